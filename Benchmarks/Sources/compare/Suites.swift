import Contenders
import Foundation

/// What was asked for, and how it is measured.
struct Suites {
    private static let taskCounts = [1, 2, 8]

    private let text: TextCorpus
    private let workspace: Workspace
    private let sizes: [Int]
    private let jobs: [Job]
    private let materials: [Material]
    private let items: Int
    /// How many of them are promoted, which is slow: it waits for the device. The rest are evicted.
    private let promotions: Int
    private let largeSize: Int
    private let day: Day
    private let rounds: (few: Int, many: Int)
    private let (small, large, daily): ([Entry], [Entry], [Entry])

    /// - Parameters:
    ///   - sizes: Of small items, in KiB.
    ///   - jobs: What is reported of small items. Storing comes before everything else, and is done in any case.
    ///   - rounds: `nil` for as many as each suite has by default.
    init(
        workspace: Workspace, peers: [Entry], sizes: [Int], jobs: [Job], materials: [Material], items: Int,
        rounds: Int?, isQuick: Bool
    ) throws {
        text = try TextCorpus()
        self.workspace = workspace
        (self.sizes, self.jobs, self.materials, self.items) = (sizes, jobs, materials, items)
        self.rounds = (rounds ?? (isQuick ? 2 : 7), rounds ?? (isQuick ? 2 : 15))
        promotions = isQuick ? 10 : 100
        largeSize = (isQuick ? 32 : 256) << 20
        day = Day(bursts: isQuick ? 6 : 12)
        small = [.floor, .ours, .changingThreads] + peers
        large =
            [.oursOfFile(hasOneThread: false), .oursOfFile(hasOneThread: true)]
            + [Entry.lz4()].compactMap(\.self)
        // Those that can be measured with many items, and a cache of ours that evicts by itself.
        daily = [.floor, .ours(within: Day.budget)] + peers.filter { $0.maximumItems == nil }
    }

    func run(_ suite: Suite) async throws -> SuiteResult {
        switch suite {
        case .small: try await runSmall()
        case .large: try await runLarge()
        case .tasks: try await runTasks()
        case .day: try await runDay()
        }
    }

    /// Items that fit in memory: stored, read, some of them promoted, the rest evicted.
    private func runSmall() async throws -> SuiteResult {
        let race = Race(small, rounds: rounds.many, in: workspace)
        var comparisons: [Comparison] = []
        for material in materials {
            for size in sizes {
                let workload = Workload(material, of: text, size: size << 10, count: items)
                comparisons += try await race.run(
                    workload,
                    Job.allCases.map { job in step(job, of: workload, isReported: jobs.contains(job)) },
                    check: { try await check($0, workload) })
            }
        }
        return SuiteResult(suite: .small, comparisons: comparisons, entries: small)
    }

    /// One large item, stored from a file: text beside a command of the shell. What does not compress is promoted as well, and so
    /// is 1 MiB of it: a promotion should not depend on the size.
    private func runLarge() async throws -> SuiteResult {
        var comparisons: [Comparison] = []
        for material in materials {
            for size in material == .incompressible ? [1 << 20, largeSize] : [largeSize] {
                let home = try workspace.makeFolder()
                let workload = try Workload(
                    material, size: size, text: text, at: home.appending(path: "source"))
                let jobs: [Job] = material == .text ? [.store] : [.store, .promote]
                let entries = material == .text ? large : Array(large.prefix(2))
                comparisons += try await Race(entries, rounds: rounds.few, in: workspace).run(
                    workload, jobs.map { step($0, of: workload) },
                    check: { runner in
                        if jobs.contains(.promote) { try check(runner.contender, 0..<1, workload) }
                    })
                workspace.empty(home)
            }
        }
        return SuiteResult(suite: .large, comparisons: comparisons, entries: large)
    }

    /// Text of 16 KiB, stored, read and opened by several tasks at once: how many items get done in a time.
    private func runTasks() async throws -> SuiteResult {
        let workload = Workload(of: text, size: 16 << 10, count: items)
        var comparisons: [Comparison] = []
        for count in Self.taskCounts {
            let race = Race([.floor(of: count), .ours(of: count)], rounds: rounds.many, in: workspace)
            comparisons += try await race.run(
                workload, by: count,
                [Job.store, .read, .promote].map { job in
                    Race.Step(job.rawValue) {
                        try await $0.contender.run(job, for: 0..<items, of: workload) / .microseconds(1)
                            / Double(items)
                    }
                })
        }
        return SuiteResult(suite: .tasks, comparisons: comparisons, entries: [.floor(of: 1), .ours(of: 1)])
    }

    private func runDay() async throws -> SuiteResult {
        let workload = Workload(of: text, size: Day.size, count: day.items)
        let comparisons = try await Race(daily, rounds: rounds.few, in: workspace).run(
            workload,
            [
                Race.Step("day") {
                    try await day.run($0.contender, workload) / .microseconds(1) / Double(workload.count)
                },
                Race.Step("on the volume at its end", unit: .bytes) {
                    try await day.bytesPerItem($0, workload)
                },
            ])
        return SuiteResult(suite: .day, comparisons: comparisons, entries: daily)
    }

    private func step(_ job: Job, of workload: Workload, isReported: Bool = true) -> Race.Step {
        Race.Step(job.rawValue, isReported: isReported) { runner in
            let items = self.items(for: job, by: runner.entry, of: workload)
            return try await runner.contender.run(job, for: items, of: workload) / .microseconds(1)
                / Double(items.count)
        }
    }

    /// The first items are promoted, the rest are evicted. The only one is promoted.
    private func items(for job: Job, by entry: Entry, of workload: Workload) -> Range<Int> {
        let count = min(workload.count, entry.maximumItems ?? workload.count)
        let promoted = min(promotions, max(1, count / 2))
        return switch job {
        case .store, .read: 0..<count
        case .promote: 0..<promoted
        case .evict: promoted..<count
        }
    }

    private func check(_ runner: Race.Runner, _ workload: Workload) async throws {
        try check(runner.contender, items(for: .promote, by: runner.entry, of: workload), workload)
        for index in items(for: .evict, by: runner.entry, of: workload)
        where await runner.contender.has(index, of: workload) {
            throw ContenderError("still has item \(index), which it was to evict")
        }
    }

    private func check(_ contender: any Contender, _ promoted: Range<Int>, _ workload: Workload) throws {
        for index in promoted {
            let content = try Data(contentsOf: contender.promotedFile(index), options: .alwaysMapped)
            guard content == (try workload.content(index)) else { throw ContenderError.wrongContent(index) }
        }
    }
}

extension Contender {
    fileprivate func has(_ index: Int, of workload: Workload) async -> Bool {
        do {
            _ = try await run(.read, for: index..<index + 1, of: workload)
            return true
        } catch {
            // As it should be of one that was evicted.
            return false
        }
    }
}

/// A day of an app: bursts of items are prefetched, some are looked at, a few are opened, and what is oldest
/// makes way.
///
/// Others are told what to evict; the cache evicts by itself, within a budget that holds as much.
struct Day {
    static let size = 64 << 10
    /// Bytes: about `kept` bursts, compressed.
    static let budget: Int64 = 16 << 20
    /// Per burst.
    private static let (stored, read, opened) = (100, 20, 4)
    /// A burst makes way when so many newer ones are there.
    private static let kept = 5

    let bursts: Int

    var items: Int { bursts * Self.stored }

    func run(_ contender: any Contender, _ workload: Workload) async throws -> Duration {
        var elapsed = Duration.zero
        for start in stride(from: 0, to: items, by: Self.stored) {
            for (job, count) in [(Job.store, Self.stored), (.read, Self.read), (.promote, Self.opened)] {
                elapsed += try await contender.run(job, for: start..<start + count, of: workload)
            }
            let oldest = start - Self.kept * Self.stored
            guard oldest >= 0 else { continue }
            elapsed += try await contender.run(
                .evict, for: oldest + Self.opened..<oldest + Self.stored, of: workload)
        }
        return elapsed
    }

    /// The bytes that the files of the contender take on their volume, for each item that is left: the cache evicts what exceeds its
    /// bytes, and others what they are told. The user's files are no longer the cache's. Foundation's own figure counts blocks
    /// of 512 bytes as if they were those of the file system.
    func bytesPerItem(_ runner: Race.Runner, _ workload: Workload) async throws -> Double {
        let documents = runner.contender.promotedFile(0).deletingLastPathComponent().resolvingSymlinksInPath()
        guard let files = FileManager.default.enumerator(at: runner.home, includingPropertiesForKeys: nil)
        else { throw CocoaError(.fileReadNoSuchFile) }
        var bytes = 0
        for case let file as URL in files
        where !file.resolvingSymlinksInPath().path.hasPrefix(documents.path + "/") {
            var found = stat()
            guard lstat(file.path, &found) == 0 else { throw CocoaError(.fileReadUnknown) }
            if found.st_mode & S_IFMT == S_IFREG { bytes += Int(found.st_blocks) * 512 }
        }
        var count = 0
        // Of each burst, the first were opened.
        for index in 0..<items where index % Self.stored >= Self.opened {
            if await runner.contender.has(index, of: workload) { count += 1 }
        }
        return Double(bytes) / Double(count)
    }
}
