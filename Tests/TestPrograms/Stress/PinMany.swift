internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

/// What `pin-many` prints.
struct PinManyReport: Codable {
    var pinned = 0
    /// Pins that were refused because too many files are open.
    var refused = 0
    /// Items that were read while the pins lasted.
    var read = 0
    /// Whether another item could be stored, read and opened meanwhile.
    var canWork = false
    /// Whether there are pins again after one was released.
    var pinsAgain = false
}

struct PinMany: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stores items, pins them all with few open files, and reads them all.")

    @Option(help: "The app's container.")
    var container: String
    @Option(help: "The number of items.")
    var items: Int
    @Option(help: "The most files that may be open.")
    var openFiles: Int

    func run() async throws {
        var limit = rlimit(rlim_cur: rlim_t(openFiles), rlim_max: rlim_t(openFiles))
        #if canImport(Darwin)
            let openFiles = RLIMIT_NOFILE
        #else
            let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        guard setrlimit(openFiles, &limit) == 0 else { throw CocoaError(.featureUnsupported) }
        let cache = try await PrefetchCache(inContainer: container)
        let keys = try (0..<items).map { try ItemKey("item-\($0)") }
        for key in keys {
            try await cache.store(
                Data(key.string.utf8), as: ItemMetadata(key: key, destination: .documents("File")))
        }
        var report = PinManyReport()
        var pins: [Pin] = []
        for key in keys {
            do {
                if let pin = try await cache.pin(key) { pins.append(pin) }
            } catch .tooManyPins {
                report.refused += 1
            }
        }
        report.pinned = pins.count
        for key in keys where try await cache.read(key) == Data(key.string.utf8) { report.read += 1 }
        try await cache.store(
            Data("more".utf8), as: ItemMetadata(key: "more", destination: .documents("More")))
        let file = try await cache.open("more")
        report.canWork = try file.map { try Data(contentsOf: $0.url) } == Data("more".utf8)
        pins.removeAll()
        // Their files are closed on another thread.
        while !report.pinsAgain {
            do {
                report.pinsAgain = try await cache.pin(keys[0]) != nil
            } catch .tooManyPins {}
        }
        try await cache.close()
        try printJSON(report)
    }
}
