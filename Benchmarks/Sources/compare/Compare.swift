import ArgumentParser
import Contenders
import Foundation

/// `compare`: how long contenders need for one item, as multiples of the floor.
@main
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures PrefetchCache, its floor and its peers side by side in one run.",
        discussion: """
            Suite small: store, read, promote and evict items of 4, 16 and 64 KiB, with all peers that are \
            installed. Suite large: store, read and promote one item of 256 MiB (quick: 32 MiB). Suite tasks: \
            store and read items of 16 KiB by 1, 2 and 8 tasks at once.

            Each round gives every contender an empty folder, and contenders take turns per job, changing \
            order from round to round. Reported is the median over the rounds.

            Exits with 64 for wrong arguments and with 75 when the volume has too little space.
            """)

    @Option(parsing: .upToNextOption, help: "What to measure (default: everything).")
    var suite: [Suite] = []

    @Flag(help: "Few rounds and items: a smoke test of under two minutes.")
    var quick = false

    @Flag(help: "Print JSON instead of tables.")
    var json = false

    @Option(help: "Measured rounds (default: 15, large: 5; quick: 2).")
    var rounds: Int?

    @Option(help: "Items per round (default: 200, quick: 40).")
    var items: Int?

    @Option(help: "Work in a new folder inside this one instead of beside the program.")
    var directory: String?

    @Option(help: "Write a bar chart of the suite small to this file.")
    var svg: String?

    private var suites: [Suite] {
        suite.isEmpty ? Suite.allCases : Suite.allCases.filter(suite.contains)
    }

    func validate() throws {
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be greater than zero.") }
        guard items ?? 8 >= 8 else { throw ValidationError("--items must be at least 8, one for each task.") }
        guard svg == nil || suites.contains(.small) else {
            throw ValidationError("--svg shows the suite small, which is not measured.")
        }
    }

    func run() async throws {
        try await Workspace.with(in: directory) { workspace in
            let results = try await measure(in: workspace)
            print(json ? try JSONReport(results).text : TableReport(results).text)
            guard let svg else { return }
            try Data(BarChart(results.flatMap(\.comparisons)).svg.utf8).write(to: URL(filePath: svg))
        }
    }

    private func measure(in workspace: Workspace) async throws -> [SuiteResult] {
        let progress = ProgressLine()
        func turns(_ rounds: Int) -> Turns {
            Turns(rounds: self.rounds ?? (quick ? 2 : rounds), workspace: workspace, progress: progress)
        }
        let items = items ?? (quick ? 40 : 200)
        let small = SmallSuite(
            lineup: lineup(), turns: turns(15), items: items, promotions: quick ? 10 : 100)
        let large = LargeSuite(
            contenders: largeLineup(), turns: turns(5), size: (quick ? 32 : 256) << 20)
        let tasks = TasksSuite(turns: turns(15), items: items)

        let needed = suites.map { suite in
            switch suite {
            case .small: small.neededBytes
            case .large: large.neededBytes
            case .tasks: tasks.neededBytes
            }
        }
        try Self.demand(needed.reduce(0, +), in: workspace)

        let text = try TextCorpus()
        var results: [SuiteResult] = []
        for suite in suites {
            switch suite {
            case .small: results.append(try await small.run(text: text))
            case .large: results.append(try await large.run(text: text))
            case .tasks: results.append(try await tasks.run(text: text))
            }
        }
        progress.clear()
        return results
    }

    private func lineup() -> Lineup {
        guard suites.contains(.small) else { return .standard() }
        let (lineup, missing) = Lineup.withPeers()
        for peer in missing { Self.complain("\(peer)") }
        return lineup
    }

    private func largeLineup() -> [any LargeContender] {
        let (contenders, missing) = largeContenders()
        if suites.contains(.large) {
            for peer in missing { Self.complain("\(peer)") }
        }
        return contenders
    }

    /// Half a result would be of no use, so the space for all of it has to be there at the start.
    private static func demand(_ bytes: Int, in workspace: Workspace) throws {
        let available = workspace.availableBytes
        guard available < Int64(bytes) else { return }
        complain("too little space: about \(bytes >> 20) MiB are needed, \(available >> 20) MiB are free")
        throw ExitCode(75)
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
