import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// Writers, openers, commands of `cachectl` and a purger, each a process of its own, on one cache: for a few seconds, or for
/// two minutes where `PREFETCHCACHE_LONG_TESTS` is set. Afterwards every promise is held against the disk.
@Suite(.serialized) struct CrowdTests {
    private static let budget = ByteCount.mebibytes(64)
    private static let seconds = TestRun.isLong ? 120 : 4

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
        var commands: [CommandsReport] = []
        var purges: PurgerReport?

        var faults: [String] {
            written.flatMap(\.faults) + opened.flatMap(\.faults) + commands.flatMap(\.faults)
                + (purges?.faults ?? [])
        }

        var keepsakes: [String: WorkReport.Keepsake] {
            written.reduce(into: [:]) { $0.merge($1.keepsakes) { $1 } }
        }

        /// How many answers were compared with what they had to be.
        var answers: Int {
            written.reduce(0) { $0 + $1.hits + $1.opened } + opened.reduce(0) { $0 + $1.opens }
                + commands.reduce(0) { $0 + $1.runs.values.reduce(0, +) }
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
        // The others take a moment to start, and end a moment later.
        let sampler = try StressProcess(
            ["sample", "--seconds", "\(Self.seconds + 1)", "--budget", "\(Self.budget.bytes)"], in: container)
        let writers = try (0..<2).map { number in
            try start("store", seed: number, ["--keepsakes", "--tasks", "3"] + flags)
        }
        let openers = try (2..<4).map { number in
            try start("open", seed: number, ["--tasks", "3"] + flags)
        }
        let tool = try BuiltProduct.named("cachectl").path
        let commands = try (4..<6).map { number in
            try start("commands", seed: number, ["--tool", tool] + flags)
        }
        let purger = isPurged ? try start("purge", seed: 6) : nil

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
        let sampled: SampleReport? = try await told(by: sampler)
        var reports = Reports(sampled: try #require(sampled))
        for process in writers {
            if let report: WorkReport = try await told(by: process) { reports.written.append(report) }
        }
        for process in openers {
            if let report: OpenReport = try await told(by: process) { reports.opened.append(report) }
        }
        for process in commands {
            if let report: CommandsReport = try await told(by: process) { reports.commands.append(report) }
        }
        if let purger { reports.purges = try await told(by: purger) }
        reports.crashes = crashes
        return reports
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
                    + "\(purged) of \(stores) stores purged, \(reports.purges?.purges ?? [:])")
        }

        #expect(reports.faults == [], comment)
        #expect(record.isHarmless && kept.wrong == [], "\(kept.wrong), \(comment)")
        #expect(reports.crashes == 0 && reports.written.count == 2 && reports.opened.count == 2, comment)
        #expect((reports.purges != nil) == isPurged, comment)
        // What was purged may be lost, and what is under way then: no more.
        #expect(isPurged || kept.lost == [], comment)
        #expect(!reports.keepsakes.isEmpty, comment)
        #expect(isPurged ? purged * 10 < stores : purged == 0, "\(purged) of \(stores), \(comment)")
        #expect(reports.sampled.samples > 10)
        // Else there was no crowd.
        #expect(
            reports.opened.allSatisfy { $0.opens > 0 } && reports.written.allSatisfy { $0.stored > 0 },
            comment)
        #expect(reports.opened.reduce(0) { $0 + $1.firstOpens } == reports.paths.count, comment)
        if let purges = reports.purges { #expect(purges.purges.count > 3, comment) }

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
    private func judge(_ keepsakes: [String: WorkReport.Keepsake]) throws -> (wrong: [String], lost: [String])
    {
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
        let stale = there.mapValues { _ in WorkReport.Keepsake(versions: [0], isThere: true) }
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
