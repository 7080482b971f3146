internal import ArgumentParser
internal import FileSystemTestSupport
internal import Foundation
internal import Logging
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchVolumeCapacity
internal import Synchronization

/// Works on a cache as its input says, line by line, so that a test knows what was done when this process is killed.
struct Follow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Does what each line of its input says, and answers with a line when it is done.")

    @Option(help: "The app's container.")
    var container: String
    @Option(help: "The time that it is, in milliseconds since 1970.")
    var time: Int64

    func run() async throws {
        let volume = ToldVolumeProbe()
        let clock = ToldClock(time)
        var environment = CacheEnvironment.live(
            logger: Logger(label: "testprograms", factory: { _ in SwiftLogNoOpLogHandler() }))
        environment.probe = volume
        environment.now = { clock.now }
        // Whoever gives the lines must know what a kill loses: only `flush` writes the catalog.
        environment.runLater = { _, _ in }
        let root = URL(filePath: container, directoryHint: .isDirectory)
        let cache = try await PrefetchCache(areas: .container(at: root), environment: environment)
        let follower = Follower(cache: cache, clock: clock, volume: volume)
        try Self.say("ready")
        while let line = readLine() {
            do {
                try Self.say(try await follower.answer(line.split(separator: " ").map(String.init)))
            } catch {
                try Self.say("failed \(error)".replacing("\n", with: " "))
            }
        }
        try await cache.close()
    }

    /// Whoever gave the line waits for this one at the other end of a pipe.
    private static func say(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}

/// A clock that shows what it is told.
private final class ToldClock: Sendable {
    private let time: Atomic<Int64>

    init(_ time: Int64) { self.time = Atomic(time) }

    var now: Int64 {
        get { time.load(ordering: .relaxed) }
        set { time.store(newValue, ordering: .relaxed) }
    }
}

/// A volume of 1 TiB with as much space as it is told.
private final class ToldVolumeProbe: VolumeProbing {
    private let available = Atomic<Int64>(1 << 39)

    func tell(_ bytes: Int64) { available.store(bytes, ordering: .relaxed) }

    func state(of folder: Descriptor) throws(FileSystemError) -> VolumeState {
        VolumeState(total: 1 << 40, available: available.load(ordering: .relaxed))
    }
}

/// One line after the other. The words of a line are separated by spaces, the first says what to do.
private struct Follower {
    let cache: PrefetchCache
    let clock: ToldClock
    let volume: ToldVolumeProbe
    /// Until it ends.
    let pins = Pins()

    final class Pins: Sendable {
        let all = Mutex<[Pin]>([])
    }

    private struct Unknown: Error {
        let line: [String]
    }

    func answer(_ line: [String]) async throws -> String {
        let words = Array(line.dropFirst())
        switch (line.first, words.count) {
        case ("time", 1): clock.now = try number(words[0])
        case ("store", 6): return try await store(words, intent: .opportunistic)
        case ("deliver", 6): return try await store(words, intent: .userRequested)
        case ("open", 1):
            guard let file = try await cache.open(ItemKey(words[0])) else { return "missed" }
            return file.isFirstOpen ? "first" : "again"
        case ("read", 1):
            guard let content = try await cache.read(ItemKey(words[0])) else { return "missed" }
            return "read \(content.count)"
        case ("remove", 1): return try await cache.remove(ItemKey(words[0])) ? "removed" : "missed"
        case ("evict", 1): try await cache.evict(.bytes(try number(words[0])))
        case ("used", 0):
            let statistics = try await cache.statistics()
            return "used \(statistics.chargedBytes + statistics.catalogBytes)"
        case ("budget", 1):
            let budget = try number(words[0])
            try await cache.configure { $0.budget = .fixed(.bytes(budget)) }
        case ("largest", 1):
            let largest = try number(words[0])
            try await cache.configure { $0.largestItem = .bytes(largest) }
        case ("storing", 1):
            let isEnabled = words[0] == "on"
            try await cache.configure { $0.isStoringEnabled = isEnabled }
        case ("volume", 1): volume.tell(try number(words[0]))
        case ("trim", 0): try await cache.trim()
        case ("flush", 0): try await cache.flush()
        case ("pin", 1):
            guard let pin = try await cache.pin(ItemKey(words[0])) else { return "missed" }
            pins.all.withLock { $0.append(pin) }
        default: throw Unknown(line: line)
        }
        return "done"
    }

    /// - Parameter words: The key, the source, the length in bytes, a seed for the content, the priority, and the time of
    ///   expiry in milliseconds since 1970, or 0.
    private func store(_ words: [String], intent: Intent) async throws -> String {
        var generator = SeededGenerator(seed: UInt64(try number(words[3])))
        let content = Content.noise(Int(try number(words[2])), using: &generator)
        var metadata = ItemMetadata(
            key: try ItemKey(words[0]), source: words[1],
            destination: .documents(FileName(sanitizing: words[0])), priority: Float(words[4]) ?? 0)
        metadata.storedAt = clock.now
        metadata.intent = intent
        if case let expiry = try number(words[5]), expiry > 0 { metadata.expiresAt = expiry }
        return switch try await cache.store(content, as: metadata) {
        case .stored: "stored"
        case .delivered: "delivered"
        case .refused(let refusal): "refused \(refusal.reason)"
        }
    }

    private func number(_ word: String) throws -> Int64 {
        guard let number = Int64(word) else { throw Unknown(line: [word]) }
        return number
    }
}
