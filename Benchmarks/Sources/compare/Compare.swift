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
            store, read and open items of 16 KiB by 1, 2 and 8 tasks at once. Suite day: bursts of items of 64 KiB \
            are stored, some read, a few opened, and the oldest evicted; and what is on the volume at its end.

            Each round gives every contender an empty folder, and contenders take turns per job, changing \
            order from round to round. Reported is the median over the rounds.

            Exits with 64 for wrong arguments and with 75 when the volume has too little space.
            """)

    @Option(parsing: .upToNextOption, help: "What to measure (default: everything).")
    var suite: [Suite] = []

    @Option(parsing: .upToNextOption, help: "Of the suite small, these jobs only (default: all).")
    var job: [Job] = []

    @Option(
        parsing: .upToNextOption, help: "Of the suite small, items of so many KiB only (default: 4 16 64).")
    var size: [Int] = []

    @Option(
        parsing: .upToNextOption, help: "Of the suites small and large, these contents only (default: all).")
    var content: [Material] = []

    @Flag(inversion: .prefixedNo, help: "Compare with other caches, too, in the suite small.")
    var peers = true

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Another contender of the suites small and day: a program that is asked line by line.",
            valueName: "command"))
    var contender: [String] = []

    @Flag(help: "Few rounds and items: a smoke test of under two minutes.")
    var quick = false

    @Flag(help: "Print JSON instead of tables.")
    var json = false

    @Option(help: "Measured rounds (default: 15, large and day: 7; quick: 2).")
    var rounds: Int?

    @Option(help: "Items per round (default: 200, quick: 40).")
    var items: Int?

    @Option(help: "Work in a new folder inside this one instead of beside the program.")
    var directory: String?

    private var suites: [Suite] { Self.chosen(suite) }

    func validate() throws {
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be greater than zero.") }
        guard items ?? 8 >= 8 else { throw ValidationError("--items must be at least 8, one for each task.") }
        guard size.allSatisfy({ (1...1024).contains($0) }) else {
            throw ValidationError("--size must be 1 to 1024, in KiB.")
        }
        guard contender.isEmpty || suites.contains(.small) || suites.contains(.day) else {
            throw ValidationError("--contender concerns the suites small and day, which are not measured.")
        }
    }

    func run() async throws {
        try await Workspace.with(in: directory) { workspace in
            let results = try await measure(in: workspace)
            print(json ? try JSONReport(results).text : TableReport(results).text)
        }
    }

    private func measure(in workspace: Workspace) async throws -> [SuiteResult] {
        let progress = ProgressLine()
        func turns(_ rounds: Int) -> Turns {
            Turns(rounds: self.rounds ?? (quick ? 2 : rounds), workspace: workspace, progress: progress)
        }
        let items = items ?? (quick ? 40 : 200)
        let small = SmallSuite(
            lineup: lineup(), turns: turns(15), items: items, promotions: quick ? 10 : 100,
            jobs: Self.chosen(job), sizes: size.isEmpty ? [4, 16, 64] : size, materials: Self.chosen(content))
        let large = LargeSuite(
            contenders: largeLineup(), turns: turns(7), size: (quick ? 32 : 256) << 20,
            materials: Self.chosen(content))
        let tasks = TasksSuite(turns: turns(15), items: items)
        let day = DaySuite(
            lineup: small.lineup.forADay(budget: DaySuite.budget), turns: turns(7), bursts: quick ? 6 : 12)

        let needed = suites.map { suite in
            switch suite {
            case .small: small.neededBytes
            case .large: large.neededBytes
            case .tasks: tasks.neededBytes
            case .day: day.neededBytes
            }
        }
        do {
            try workspace.demand(bytes: Int64(needed.reduce(0, +)))
        } catch let error as TooLittleSpace {
            Self.complain("\(error)")
            throw ExitCode(75)
        }

        let text = try TextCorpus()
        var results: [SuiteResult] = []
        for suite in suites {
            switch suite {
            case .small: results.append(try await small.run(text: text))
            case .large: results.append(try await large.run(text: text))
            case .tasks: results.append(try await tasks.run(text: text))
            case .day: results.append(try await day.run(text: text))
            }
        }
        progress.clear()
        return results
    }

    /// Those that were named, in the order in which they are shown; all when none was.
    private static func chosen<Choice: CaseIterable & Equatable>(_ named: [Choice]) -> [Choice] {
        Choice.allCases.filter { named.isEmpty || named.contains($0) }
    }

    private func lineup() -> Lineup {
        guard suites.contains(.small) || suites.contains(.day) else { return .standard() }
        let (others, missing) = peers ? Lineup.withPeers() : (.standard(), [])
        for peer in missing { Self.complain("\(peer)") }
        var lineup = others
        lineup.peers += contender.enumerated().map { ProcessContender(number: $0 + 1, command: $1) }
        return lineup
    }

    private func largeLineup() -> [any LargeContender] {
        let (contenders, missing) = largeContenders()
        if suites.contains(.large) {
            for peer in missing { Self.complain("\(peer)") }
        }
        return contenders
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
