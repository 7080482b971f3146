import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// Many writers in several processes, and one that only looks: for a few seconds, or for a minute where
/// `PREFETCHCACHE_LONG_TESTS` is set.
@Suite(.serialized) struct StressTests {
    private static let budget = ByteCount.mebibytes(64)
    private static let seconds = TestRun.isLong ? 60 : 4

    private let container = TemporaryContainer.make(budget: Self.budget, largestItem: .mebibytes(16))

    private func writer(_ seed: Int, tasks: Int, _ flags: String...) throws -> StressProcess {
        try StressProcess(
            ["store", "--seconds", "\(Self.seconds)", "--tasks", "\(tasks)", "--seed", "\(seed)"] + flags,
            in: container)
    }

    /// - Parameter least: Bytes that are to have been there. On a slow machine that takes longer.
    private func sampler(
        seconds: Int, budget: ByteCount = budget, least: Int64 = 0
    ) throws -> StressProcess {
        try StressProcess(
            ["sample", "--seconds", "\(seconds)", "--budget", "\(budget.bytes)", "--least", "\(least)"],
            in: container)
    }

    @Test func fiveProcessesStayWithinTheBudgetAndTheBooksAreRightAtTheEnd() async throws {
        let seed = Int.random(in: 1...1_000_000)
        // The writers take a moment to start, and end a moment later.
        let least = Self.budget.bytes / 2
        let sampler = try sampler(seconds: Self.seconds + 1, least: least)
        let writers = [try writer(seed, tasks: 8)] + (try (1...3).map { try writer(seed + $0, tasks: 2) })
        let dying = try writer(seed + 4, tasks: 2, "--die")

        let sampled = try await sampler.outcome().report(as: SampleReport.self)
        var reports: [WorkReport] = []
        for writer in writers { reports.append(try await writer.outcome().report()) }
        #expect(await dying.outcome().wasKilled)

        #expect(sampled.samples > 10)
        #expect(sampled.lowerBoundsAboveBudget == 0, "\(sampled), seed \(seed)")
        #expect(sampled.largestLowerBound <= Self.budget.bytes, "\(sampled), seed \(seed)")
        // Else there was no stress.
        #expect(sampled.largestLowerBound >= least)
        #expect(reports.flatMap(\.faults) == [], "seed \(seed)")
        for kind in [\WorkReport.stored, \.hits, \.opened, \.removed] {
            #expect(reports.reduce(0) { $0 + $1[keyPath: kind] } > 0, "\(kind), seed \(seed)")
        }
        try expectThatTheBooksAgreeWithTheDisk(seed)
        if TestRun.isLong { print("stress, seed \(seed): \(sampled), \(reports)") }
    }

    @Test func theNextProcessFindsTheItemsOfOneThatWasKilledAndTakesItsReservationBack() async throws {
        let outcome = try await writer(7, tasks: 2, "--die").outcome()
        #expect(outcome.wasKilled)
        let incoming = container.incoming
        #expect(try container.files(below: incoming).contains { !$0.hasSuffix(".lock") })
        try expectThatTheBooksAgreeWithTheDisk(7)
    }

    @Test func theNextProcessGoesOnWithTheItemThatOneThatWasKilledHadToKeep() async throws {
        let outcome = try await writer(7, tasks: 2, "--die", "--keep").outcome()
        #expect(outcome.wasKilled)
        let engine = try container.engine()
        let (store, replayed) = try engine.resume("unfinished")
        #expect(replayed.count == 1 << 20 && store.contentBytes == 1 << 20)
        // Its content begins with its kind, a place and its length.
        let length = replayed.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
        #expect(length == 2 << 20)
        let rest = noise(1 << 20)
        try store.append(rest)
        #expect(try store.commit().isStored)
        #expect(try isSame(engine.content("unfinished"), replayed + rest))
        try engine.close()
        try expectThatTheBooksAgreeWithTheDisk(7)
    }

    private func expectThatTheBooksAgreeWithTheDisk(_ seed: Int) throws {
        let engine = try container.engine()
        try container.expectBooksThatAgreeWithTheDisk(engine, "seed \(seed)")
        // Its own lock, if it has written in the background, it takes along.
        try engine.close()
        #expect(try container.files(below: container.incoming) == [])
    }

    @Test func theSamplerReportsAFolderThatExceedsTheBudget() async throws {
        let folder = container.caches.appending(path: "items/ab")
        try folder.makeFolder()
        for number in 0..<3 { try noise(500_000).write(to: folder.appending(path: "\(number)")) }
        let within = try await sampler(seconds: 0, budget: .mebibytes(2)).outcome()
            .report(as: SampleReport.self)
        #expect(within.lowerBoundsAboveBudget == 0)
        let above = try await sampler(seconds: 0, budget: .mebibytes(1)).outcome()
            .report(as: SampleReport.self)
        #expect(above.samples == 1)
        #expect(above.lowerBoundsAboveBudget == 1)
        #expect(above.sumsAboveBudget == 1)
        #expect(above.largestLowerBound >= 3 * 500_000)
    }
}
