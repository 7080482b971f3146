import ArgumentParser
import Contenders
import Foundation
import PrefetchCaching

/// `policy-replay`: what an eviction policy would have made of a recorded trace.
@main
struct PolicyReplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy-replay",
        abstract: "Replays a trace through the cache's own catalog and eviction, and prints a JSON object.",
        discussion: """
            The trace is a CSV with the header 'time,key,size', gzipped or not, in the order of the \
            requests. The cache starts cold and every request counts: a hit is a use, a miss stores the \
            item after evicting while it would not fit, and an item larger than the capacity is not \
            stored. An item counts with just its size; the time is not looked at.

            Exit codes: 0 done, 64 wrong usage, 65 not such a trace or damaged, 66 no such file, \
            69 no gzip, 74 input/output error.
            """)

    @Argument(help: "The file of the trace, or - for standard input.")
    var trace: String

    @Option(help: "What fits into the cache, such as 20297697 or 1GiB.", transform: Capacity.parse)
    var capacity: ByteCount

    @Option(help: "Who goes when space is needed.")
    var policy: EvictionPolicyChoice = .lru

    func run() throws {
        do {
            let report = try TemporaryFolder.with { folder in
                try Replay(capacity: capacity, policy: policy, folder: folder).run(trace)
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
