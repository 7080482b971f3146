import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCache

/// Writers, openers, commands of `cachectl` and a purger, each a process of its own, on one cache: for a few seconds, or for
/// two minutes where `PREFETCHCACHE_LONG_TESTS` is set. Afterwards every promise is held against the disk.
@Suite(.serialized) struct CrowdTests {
    private static let budget = ByteCount.mebibytes(64)
    private static let seconds = TestRun.isLong ? 120 : 4

    private let container: TemporaryContainer
    private let seed = Int(TestRun.seed % 1_000_000)

    init() throws {
        container = try TemporaryContainer(budget: Self.budget, largestItem: .mebibytes(16))
    }

    private func start(_ command: String, seed offset: Int, _ arguments: String...) throws -> StressProcess {
        try StressProcess(
            [command, "--seconds", "\(Self.seconds)", "--seed", "\(seed + offset)"] + arguments, in: container
        )
    }

    /// What all processes told.
    private struct Reports {
        var sampled: SampleReport
        var written: [WorkReport] = []
        var opened: [OpenReport] = []
        var commands: [CommandsReport] = []
        var purges: PurgerReport?

        var faults: [String] {
            written.flatMap(\.faults) + opened.flatMap(\.faults) + commands.flatMap(\.faults)
                + (purges?.faults ?? [])
        }

        /// All paths of every key, whoever opened it.
        var paths: [String: Set<String>] {
            opened.reduce(into: [:]) { $0.merge($1.paths) { $0.union($1) } }
        }
    }

    private func reports(isPurged: Bool) async throws -> Reports {
        let flags = isPurged ? ["--purged"] : []
        // The others take a moment to start, and end a moment later.
        let sampler = try StressProcess(
            ["sample", "--seconds", "\(Self.seconds + 1)", "--budget", "\(Self.budget.bytes)"], in: container)
        let writers = try (0..<2).map { number in
            try StressProcess(
                ["store", "--seconds", "\(Self.seconds)", "--tasks", "3", "--seed", "\(seed + number)"]
                    + flags,
                in: container)
        }
        let openers = try (2..<4).map { number in
            try StressProcess(
                ["open", "--seconds", "\(Self.seconds)", "--tasks", "3", "--seed", "\(seed + number)"]
                    + flags,
                in: container)
        }
        let tool = try BuiltProduct.named("cachectl").path
        let commands = try (4..<6).map { number in
            try StressProcess(
                ["commands", "--seconds", "\(Self.seconds)", "--seed", "\(seed + number)", "--tool", tool]
                    + flags,
                in: container)
        }
        let purger = isPurged ? try start("purge", seed: 6) : nil

        var reports = Reports(sampled: try await sampler.outcome().report())
        for process in writers { reports.written.append(try await process.outcome().report()) }
        for process in openers { reports.opened.append(try await process.outcome().report()) }
        for process in commands { reports.commands.append(try await process.outcome().report()) }
        reports.purges = try await purger?.outcome().report()
        return reports
    }

    @Test(arguments: [false, true])
    func everyPromiseHoldsAfterwards(isPurged: Bool) async throws {
        let reports = try await reports(isPurged: isPurged)
        let comment: Comment = "seed \(seed)"
        var record = AttackRecord(
            isPurged ? "processes.with-a-purger" : "processes.at-once",
            cases: reports.written.reduce(0) { $0 + $1.stored + $1.hits + $1.removed }
                + reports.opened.reduce(0) { $0 + $1.stored + $1.opens }
                + reports.commands.reduce(0) { $0 + $1.runs.values.reduce(0, +) })
        record.wrongBytes =
            reports.written.reduce(0) { $0 + $1.wrong } + reports.opened.reduce(0) { $0 + $1.wrong }
        record.overshoot = max(0, reports.sampled.largestLowerBound - Self.budget.bytes)
        record.lostPromotions = reports.paths.count { !isTheFile($0.value, of: $0.key) }
        record.report()
        if TestRun.isLong {
            print("crowd, seed \(seed): \(reports.sampled), \(reports.purges?.purges ?? [:])")
        }

        #expect(reports.faults == [], comment)
        #expect(record.isHarmless, comment)
        #expect(reports.sampled.samples > 10)
        // Else there was no crowd.
        #expect(
            reports.opened.allSatisfy { $0.opens > 0 } && reports.written.allSatisfy { $0.stored > 0 },
            comment)
        #expect(reports.opened.reduce(0) { $0 + $1.firstOpens } == reports.paths.count, comment)
        if let purges = reports.purges { #expect(purges.purges.count > 3, comment) }

        let files = try container.files(below: container.documents).filter { $0.hasPrefix("wanted-") }
        #expect(files.count == reports.paths.count, comment)
        let engine = try container.engine()
        if isPurged { #expect(try engine.repair(isDryRun: false).failures.isEmpty, comment) }
        try engine.maintain()
        try container.expectBooksThatAgreeWithTheDisk(engine, comment)
        let incoming = try container.files(below: container.caches.appending(path: "incoming"))
        #expect(incoming.allSatisfy { $0.hasSuffix(".lock") }, comment)
        try engine.close()
    }

    /// Whether a key became one file, which is there with the key's content.
    private func isTheFile(_ paths: Set<String>, of key: String) -> Bool {
        guard let path = paths.first, paths.count == 1 else { return false }
        return FileManager.default.contents(atPath: path) == Content.of(key)
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
