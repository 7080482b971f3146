internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

struct Hold: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pins an item, says so, and waits until its input ends.")

    @Option(help: "The app's container.")
    var container: String
    @Option(help: "The item's key.")
    var key: String

    func run() async throws {
        let cache = try await PrefetchCache(inContainer: container)
        guard let pin = try await cache.pin(try ItemKey(key)) else {
            throw ValidationError("There is no such item.")
        }
        try Self.say("held")
        while readLine() != nil {}
        pin.release()
        try await cache.close()
    }

    /// Whoever started this waits for the line at the other end of a pipe.
    private static func say(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}
