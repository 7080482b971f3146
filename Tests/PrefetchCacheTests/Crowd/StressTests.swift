import Foundation
import Testing

@testable import PrefetchCaching
@testable import testprograms

/// Writers that are killed, and what the next process makes of what they leave.
@Suite(.serialized) struct StressTests {
    private static let budget = ByteCount.mebibytes(64)
    private let container = TemporaryContainer.make(budget: Self.budget, largestItem: .mebibytes(16))

    /// One that dies in the middle of an item.
    private func writer(_ flags: String...) throws -> StressProcess {
        try StressProcess(
            ["store", "--seconds", "2", "--tasks", "2", "--seed", "7", "--die"] + flags, in: container)
    }

    @Test func theNextProcessFindsTheItemsOfOneThatWasKilledAndTakesItsReservationBack() async throws {
        let outcome = try await writer().outcome()
        #expect(outcome.wasKilled)
        let incoming = container.incoming
        #expect(try container.files(below: incoming).contains { !$0.hasSuffix(".lock") })
        try expectThatTheBooksAgreeWithTheDisk()
    }

    @Test func theNextProcessGoesOnWithTheItemThatOneThatWasKilledHadToKeep() async throws {
        let outcome = try await writer("--keep").outcome()
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
        try expectThatTheBooksAgreeWithTheDisk()
    }

    private func expectThatTheBooksAgreeWithTheDisk() throws {
        let engine = try container.engine()
        try container.expectBooksThatAgreeWithTheDisk(engine, "")
        // Its own lock, if it has written in the background, it takes along.
        try engine.close()
        #expect(try container.files(below: container.incoming) == [])
    }

    @Test func theSamplerReportsAFolderThatExceedsTheBudget() throws {
        let folder = container.caches.appending(path: "items/ab")
        try folder.makeFolder()
        for number in 0..<3 { try noise(500_000).write(to: folder.appending(path: "\(number)")) }
        for (budget, count) in [(ByteCount.mebibytes(2), 0), (.mebibytes(1), 1)] {
            var sampler = Sampler(budget: budget.bytes)
            try sampler.sample(container.caches.path, until: .now)
            #expect(sampler.report.samples == 1 && sampler.report.largestLowerBound >= 3 * 500_000)
            #expect(sampler.report.lowerBoundsAboveBudget == count)
            #expect(sampler.report.sumsAboveBudget == count)
        }
    }
}
