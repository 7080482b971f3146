import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// Contract 8, when a living process's lock file is lost: it is taken for dead, and must not spend what others were given
/// since.
@Suite struct LostLockTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(8))
    private let budget = ByteCount.mebibytes(8)

    private func purge(_ parts: [PurgedPart]) throws {
        var purger = Purger(of: container.root, seed: 1)
        for part in parts { try purger.purge(part) }
    }

    /// An engine that may spend megabytes from memory.
    private func engineWithAnAllowance() throws -> Engine {
        let engine = try container.engine()
        try engine.begin("given up", expectedLength: 5 << 20).cancel()
        #expect(engine.catalog.inMemory { $0.allowance.free } > 5 << 20)
        return engine
    }

    /// An emptied file's lock is held, and says nothing of what it stands for.
    @Test(arguments: [[PurgedPart.lock], [.emptiedLock, .catalog]])
    func whatItHeldInAdvanceIsNotSpent(_ purged: [PurgedPart]) throws {
        let first = try engineWithAnAllowance()
        try purge(purged)
        let second = try container.engine()
        let store = try second.begin("under way", expectedLength: 6 << 20)
        try store.append(mebibytes: 6)
        #expect(try first.store(noise(4 << 20), "late").refusal?.reason == "overBudget")
        try report()
        try store.cancel()
    }

    private func report() throws {
        var record = AttackRecord("purges.lost-locks", of: "stores beside one whose lock is lost", cases: 1)
        record.note(charged: try container.chargedOnDisk(), budget: budget.bytes)
        #expect(record.isHarmless)
        record.report()
    }

    @Test func itsNextItemMakesANewOneThatOthersFind() throws {
        let first = try container.engine()
        try first.store(noise(100), "one")
        try purge([.lock])
        try first.store(noise(100), "two")
        let second = try container.engine()
        let store = try first.begin("under way", expectedLength: 6 << 20)
        #expect(try second.store(noise(4 << 20), "late").refusal?.reason == "overBudget")
        try store.append(mebibytes: 6)
        #expect(try store.commit().isStored)
        try report()
        for engine in [first, second] { try engine.maintain() }
        try container.expectBooksThatAgreeWithTheDisk(second, "")
    }
}
