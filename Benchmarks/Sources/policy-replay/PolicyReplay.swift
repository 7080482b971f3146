public import ArgumentParser
import Foundation
public import PrefetchCaching

/// `policy-replay`: what an eviction policy would have made of a recorded trace.
@main
struct PolicyReplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy-replay",
        abstract: "Replays a trace through the cache's own catalog and eviction, and prints a JSON object.",
        discussion: """
            The trace is a CSV in the order of its events; its header tells its kind. The \
            cache starts cold, and an item counts with just its size.

            time,key,size: requests of a cache, all of which count. A hit is a use, a miss stores the item \
            after evicting while it would not fit, and an item larger than the capacity is not stored. The \
            time is not looked at.

            time,event,key,source,size: prefetching, with times in seconds. What arrives (event 'arrive') is \
            stored, after evicting, or refused; what is opened ('open') leaves the cache; what a newer version \
            replaced ('gone') is dropped. Counted are items that arrive after the warm-up.

            What 'cachectl events --json' prints: the same of a cache's own journal. What the app would have \
            downloaded on top is not known, so the result is an estimate.
            """)

    @Argument(help: "The file of the trace, or - for standard input.")
    var trace: String

    @Option(help: "What fits into the cache, such as 20297697 or 1GiB.", transform: Capacity.parse)
    var capacity: ByteCount

    @Option(help: "Who goes when space is needed.")
    var policy: EvictionPolicyChoice = .lru

    @Flag(help: "Do not download what paused sources send; for a trace of prefetching.")
    var gate = false

    @Option(
        help: "How long what arrives is not counted, such as 30d or 12h; for a trace of prefetching.",
        transform: WarmUp.parse)
    var warmUp: Int64 = 0

    func run() throws {
        // For the catalog of the simulation.
        let folder = URL.temporaryDirectory.appending(path: "policy-replay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let replay = Replay(
            capacity: capacity, policy: policy, usesGate: gate, warmUp: warmUp, folder: folder)
        let report = Result { try replay.run(trace).json }
        try FileManager.default.removeItem(at: folder)
        print(try report.get())
    }
}

extension EvictionPolicyChoice: @retroactive ExpressibleByArgument {}

/// A capacity as it stands on the command line: `20297697`, `64MiB`, `2GB`.
enum Capacity {
    private static let units: [Substring: Int64] = [
        "": 1, "B": 1,
        "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
    ]

    @Sendable static func parse(_ text: String) throws -> ByteCount {
        // `isNumber` would take the digits of other scripts, which `Int64` does not read.
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), let unit = units[text.dropFirst(digits.count)] else {
            throw ValidationError("'\(text)' is no size; write for example 1GiB, 64MB or 20297697.")
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow else { throw ValidationError("'\(text)' is more than \(Int64.max) bytes.") }
        return .bytes(bytes)
    }
}

/// A time as it stands on the command line: `30d`, `12h`.
enum WarmUp {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]

    /// - Returns: Milliseconds.
    @Sendable static func parse(_ text: String) throws -> Int64 {
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()),
            (0...100_000).contains(number)
        else { throw ValidationError("'\(text)' is no time; write for example 30d or 12h.") }
        return number * unit * 1000
    }
}
