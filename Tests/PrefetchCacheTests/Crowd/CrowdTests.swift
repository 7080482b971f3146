import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching
@testable import testprograms

/// Writers, openers, commands of `cachectl` and a purger, each a process of its own, on one cache: for a few seconds, or for
/// two minutes where `PREFETCHCACHE_LONG_TESTS` is set. Afterwards every promise is held against the disk.
@Suite(.serialized) struct CrowdTests {
    private static let budget = ByteCount.mebibytes(64)
    private static let seconds = TestRun.isLong ? 120 : 4

    /// Bytes that are to have been there at once, unless they are purged.
    private static let least = budget.bytes / 4

    /// Names that openers want, and that the user's files have.
    private static let taken = ["wanted-1", "wanted-12"]

    private let container = TemporaryContainer.make(budget: Self.budget, largestItem: .mebibytes(16))
    private let sentinels: Sentinels
    private let seed = Int(TestRun.seed % 1_000_000)

    init() throws { sentinels = try Sentinels(in: container, named: Self.taken) }

    private func start(
        _ command: String, seconds: Int = seconds, seed offset: Int, _ arguments: [String] = []
    ) throws -> StressProcess {
        try StressProcess(
            [command, "--seconds", "\(seconds)", "--seed", "\(seed + offset)"] + arguments, in: container)
    }

    /// What all processes told.
    private struct Reports {
        var sampled: SampleReport
        /// How many ended in another way than by their own will.
        var crashes = 0
        var written: [WorkReport] = []
        var opened: [OpenReport] = []
        /// How many commands ran, and those that ended in a way that nobody expects.
        var commands = (runs: 0, faults: [String]())
        /// How often each part of the cache was purged.
        var purges: [PurgedPart: Int] = [:]

        var faults: [String] { written.flatMap(\.faults) + opened.flatMap(\.faults) + commands.faults }

        var keepsakes: [String: Keepsake] {
            written.reduce(into: [:]) { $0.merge($1.keepsakes) { $1 } }
        }

        /// How many answers were compared with what they had to be.
        var answers: Int {
            written.reduce(0) { $0 + $1.hits + $1.opened } + opened.reduce(0) { $0 + $1.opens }
                + commands.runs
        }

        var wrong: Int { written.reduce(0) { $0 + $1.wrong } + opened.reduce(0) { $0 + $1.wrong } }

        /// What the system took while it was stored, and how much was stored in all.
        var stores: (purged: Int, all: Int) {
            let purged = written.reduce(0) { $0 + $1.purged } + opened.reduce(0) { $0 + $1.purged }
            let stored = written.reduce(0) { $0 + $1.stored } + opened.reduce(0) { $0 + $1.stored }
            return (purged, stored + purged)
        }

        /// All paths of every key, whoever opened it.
        var paths: [String: Set<String>] { opened.reduce(into: [:]) { $0.merge($1.paths) { $0.union($1) } } }
    }

    private func reports(isPurged: Bool) async throws -> Reports {
        let flags = isPurged ? ["--purged"] : []
        let executor = BlockingExecutor(width: 4)
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        // The others take a moment to start, and end a moment later.
        let sampler = Task(executorPreference: executor) {
            var sampler = Sampler(budget: Self.budget.bytes)
            try sampler.sample(
                container.caches.path, until: deadline + .seconds(1), least: isPurged ? 0 : Self.least)
            return sampler.report
        }
        let writers = try (0..<2).map { number in
            try start("store", seed: number, ["--keepsakes", "--tasks", "3"] + flags)
        }
        let openers = try (2..<4).map { number in
            try start("open", seed: number, ["--tasks", "3"] + flags)
        }
        let commands = (4..<6).map { number in
            Task(executorPreference: executor) {
                try command(until: deadline, seed: seed + number, isPurged: isPurged)
            }
        }
        let purger = Task(executorPreference: executor) {
            try isPurged ? purge(until: deadline, seed: seed + 6) : [:]
        }

        var crashes = 0
        /// - Returns: `nil` where the process has crashed, with which is lost what it had to tell.
        func told<Report: Decodable>(by process: StressProcess) async throws -> Report? {
            let outcome = await process.outcome()
            guard outcome.status == 0, !outcome.wasKilled else {
                crashes += 1
                return nil
            }
            return try outcome.report()
        }
        var reports = Reports(sampled: try await sampler.value)
        for process in writers {
            if let report: WorkReport = try await told(by: process) { reports.written.append(report) }
        }
        for process in openers {
            if let report: OpenReport = try await told(by: process) { reports.opened.append(report) }
        }
        for commands in commands {
            let (runs, faults) = try await commands.value
            reports.commands.runs += runs
            reports.commands.faults += faults
        }
        reports.purges = try await purger.value
        reports.crashes = crashes
        return reports
    }

    /// None of them is to fail, whoever works on the cache meanwhile.
    private static let commands = [
        ["stats"], ["stats", "--json"], ["list"], ["list", "--json"], ["evict", "--bytes", "1MiB"], ["trim"],
        ["verify", "--sample", "50"], ["repair"], ["repair", "--dry-run"], ["inventory"], ["capacity"],
    ]

    /// Runs one command of `cachectl` after the other, chosen at random.
    private func command(until deadline: ContinuousClock.Instant, seed: Int, isPurged: Bool) throws
        -> (runs: Int, faults: [String])
    {
        var generator = SeededGenerator(seed: UInt64(seed))
        var (runs, faults) = (0, [String]())
        while ContinuousClock.now < deadline {
            let command = Self.commands[Int.random(in: 0..<Self.commands.count, using: &generator)]
            let outcome = try BuiltProduct.run("cachectl", command + ["--container", container.root.path])
            runs += 1
            // A repair that the catalog is taken from may say so.
            guard outcome.status != 0, !isPurged || command[0] != "repair" || outcome.status != 74 else {
                continue
            }
            faults.append("\(command.joined(separator: " ")) ended with \(outcome.status): \(outcome.errors)")
        }
        return (runs, faults)
    }

    /// Takes files and folders of Caches and tmp away again and again, as the system does.
    private func purge(until deadline: ContinuousClock.Instant, seed: Int) throws -> [PurgedPart: Int] {
        var purger = Purger(of: container.root, seed: UInt64(seed))
        var purges: [PurgedPart: Int] = [:]
        while ContinuousClock.now < deadline {
            purges[try purger.purge(), default: 0] += 1
            usleep(100_000)
        }
        return purges
    }

    @Test(arguments: [false, true])
    func everyPromiseHoldsAfterwards(isPurged: Bool) async throws {
        let reports = try await reports(isPurged: isPurged)
        let comment: Comment = "seed \(seed)"
        var record = AttackRecord(
            isPurged ? "processes.with-a-purger" : "processes.at-once", of: "answers to several processes",
            cases: reports.answers + reports.keepsakes.count + reports.paths.count)
        record.note(\.wrongBytes, reports.wrong)
        record.note(\.crashes, reports.crashes)
        record.note(charged: reports.sampled.largestLowerBound, budget: Self.budget.bytes)
        record.note(\.lostPromotions, reports.paths.count { !isTheFile($0.value, of: $0.key) })
        record.note(\.foreignTouched, try sentinels.touched().count)
        let kept = try judge(reports.keepsakes)
        record.note(\.wrongBytes, kept.wrong.count)
        record.report()
        let (purged, stores) = reports.stores
        if TestRun.isLong {
            print(
                "crowd, seed \(seed): \(reports.sampled), \(reports.keepsakes.count) keepsakes, "
                    + "\(purged) of \(stores) stores purged, \(reports.purges)")
        }

        #expect(reports.faults == [], comment)
        #expect(record.isHarmless && kept.wrong == [], "\(kept.wrong), \(comment)")
        #expect(reports.crashes == 0 && reports.written.count == 2 && reports.opened.count == 2, comment)
        // What was purged may be lost, and what is under way then: no more.
        #expect(isPurged || kept.lost == [], comment)
        #expect(!reports.keepsakes.isEmpty, comment)
        #expect(isPurged ? purged * 10 < stores : purged == 0, "\(purged) of \(stores), \(comment)")
        #expect(reports.sampled.samples > 10)
        // Else there was no crowd.
        #expect(isPurged || reports.sampled.largestLowerBound >= Self.least, "\(reports.sampled), \(comment)")
        #expect(
            reports.opened.allSatisfy { $0.opens > 0 } && reports.written.allSatisfy { $0.stored > 0 },
            comment)
        #expect(reports.opened.reduce(0) { $0 + $1.firstOpens } == reports.paths.count, comment)
        #expect(!isPurged || reports.purges.count > 3, comment)

        let files = try container.files(below: container.documents)
            .filter { $0.hasPrefix("wanted-") && !Self.taken.contains($0) }
        #expect(files.count == reports.paths.count, comment)
        let engine = try container.engine()
        if isPurged { #expect(try engine.repair(isDryRun: false).failures.isEmpty, comment) }
        try engine.maintain()
        try container.expectBooksThatAgreeWithTheDisk(engine, comment)
        #expect(try container.partials() == [], comment)
        try engine.close()
    }

    /// Reads what workers had to themselves.
    ///
    /// - Returns: The keys of which there is something else than what was stored last, or something although it was removed;
    ///   and those of which there is nothing although it was stored and neither evicted nor removed.
    private func judge(_ keepsakes: [String: Keepsake]) throws -> (wrong: [String], lost: [String]) {
        let engine = try container.engine()
        var wrong: [String] = []
        var lost: [String] = []
        for (key, keepsake) in keepsakes {
            guard let content = try engine.content(ItemKey(key)) else {
                if keepsake.isThere { lost.append(key) }
                continue
            }
            let version = Content.version(of: content, as: key)
            if !(version.map(keepsake.versions.contains) ?? false) { wrong.append(key) }
        }
        try engine.close()
        return (wrong.sorted(), lost.sorted())
    }

    /// Whether a key became one file, which is there with the key's content.
    private func isTheFile(_ paths: Set<String>, of key: String) -> Bool {
        guard let path = paths.first, paths.count == 1 else { return false }
        return FileManager.default.contents(atPath: path) == Content.of(key)
    }

    /// Negative control: where something else is stored under a key, a worker sees it, and so does the look at the end, which
    /// also misses what is gone.
    @Test func whatIsMixedUpOrGoneIsNoticed() async throws {
        let outcome = try await start("store", seconds: 2, seed: 8, ["--keepsakes", "--mixed-up"]).outcome()
        let report: WorkReport = try outcome.report()
        #expect(report.wrong > 0 && report.faults.contains { $0.contains("not what was stored") })
        let there = report.keepsakes.filter(\.value.isThere)
        let gone = try #require(there.keys.sorted().first)
        try container.item(ItemKey(gone)).remove()
        #expect(try judge(report.keepsakes).lost == [gone])
        let stale = there.mapValues { _ in Keepsake(versions: [0], isThere: true) }
        #expect(try judge(stale).wrong.count == there.count - 1)
    }

    @Test func everyOperationFromManyTasks() async throws {
        let outcome = try await start("api", seed: 7).outcome()
        #expect(outcome.status == 0 && !outcome.wasKilled)
        let report = try outcome.report(as: APIReport.self)
        #expect(report.faults == [], "seed \(seed + 7)")
        #expect(report.calls.count > 30 && report.cancelled > 0 && report.opensAtOnce == 2000)
        let engine = try container.engine()
        try engine.maintain()
        try container.expectBooksThatAgreeWithTheDisk(engine, "seed \(seed + 7)")
        try engine.close()
    }
}
