import ArgumentParser
import Foundation
import PrefetchCaching

/// `policy-replay`: what an eviction policy would have made of a recorded trace.
@main
struct PolicyReplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy-replay",
        abstract: "Replays a trace through the cache's own catalog and eviction, and prints a JSON object.",
        discussion: """
            The trace is a CSV, gzipped or not, in the order of its events; its header tells its kind. The \
            cache starts cold, and an item counts with just its size.

            time,key,size: requests of a cache, all of which count. A hit is a use, a miss stores the item \
            after evicting while it would not fit, and an item larger than the capacity is not stored. The \
            time is not looked at. Such a trace can also be replayed with fifo and sieve, in memory.

            time,event,key,source,size: prefetching, with times in seconds. What arrives (event 'arrive') is \
            stored, after evicting, or refused; what is opened ('open') leaves the cache; what a newer version \
            replaced ('gone') is dropped. Counted are items that arrive after the warm-up.

            What 'cachectl events --json' prints: the same of a cache's own journal. What the app would have \
            downloaded on top is not known, so the result is an estimate.

            Exit codes: 0 done, 64 wrong usage, 65 not such a trace or damaged, 66 no such file, \
            69 no gzip, 74 input/output error.
            """)

    @Argument(help: "The file of the trace, or - for standard input.")
    var trace: String

    @Option(help: "What fits into the cache, such as 20297697 or 1GiB.", transform: Capacity.parse)
    var capacity: ByteCount

    @Option(help: "Who goes when space is needed.")
    var policy: ReplayPolicy = .lru

    @Flag(help: "Do not download what paused sources send; for a trace of prefetching.")
    var gate = false

    @Option(
        help: "How long what arrives is not counted, such as 30d or 12h; for a trace of prefetching.",
        transform: WarmUp.parse)
    var warmUp: Int64 = 0

    func run() throws {
        do {
            let report = try TemporaryFolder.with { folder in
                try Replay(
                    capacity: capacity, policy: policy, usesGate: gate, warmUp: warmUp, folder: folder
                ).run(trace)
            }
            print(try report.json)
        } catch let failure as ReplayFailure {
            FileHandle.standardError.write(Data("policy-replay: \(failure.message)\n".utf8))
            throw ArgumentParser.ExitCode(failure.code.rawValue)
        } catch let error as CacheError {
            FileHandle.standardError.write(Data("policy-replay: \(error)\n".utf8))
            throw ArgumentParser.ExitCode(ReplayFailure.Code.inputOutput.rawValue)
        }
    }
}
