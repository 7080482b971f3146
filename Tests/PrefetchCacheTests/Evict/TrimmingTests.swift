import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Room that is made before it is needed.
@Suite struct TrimmingTests {
    private let container = TemporaryContainer.make()
    private let clock = TestClock()

    /// - Parameter probe: `nil` for what the file system says.
    private func engine(
        _ fileSystem: InterceptingFileSystem, probe: (any VolumeProbing)? = FixedVolumeProbe.roomy
    )
        throws -> Engine
    {
        return try container.engine(
            fileSystem: fileSystem, probe: probe,
            uptime: { [clock] in clock.milliseconds })
    }

    /// Counts evictions, and how many there were between two looks at the volume: one follows each step.
    private final class Steps: Sendable {
        let evictions = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        private let inStep = Atomic<Int>(0)

        func note(_ operation: FileSystemTestSupport.Operation) {
            switch operation.kind {
            case .unlink where operation.path?.contains("/items/") == true:
                evictions.add(1, ordering: .relaxed)
                most.max(inStep.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
            case .volume: inStep.store(0, ordering: .relaxed)
            default: break
            }
        }
    }

    private func store(
        _ number: Int, of length: Int = 100_000, in engine: Engine, _ mode: AdmissionMode = .evicting
    ) throws -> Bool {
        let item = try ItemMetadata(ItemKey(number: number))
        return try engine.store(
            noise(length, seed: UInt64(number)), as: item, on: AdmissionTerms(mode)
        ).isStored
    }

    /// A full cache is trimmed in steps, and what stores were granted meanwhile is left to them.
    @Test func roomIsMadeInAdvanceWhileStoresGoOn() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try engine(fileSystem, probe: nil)
        try engine.configure(.fixed(.mebibytes(80)))
        var stored = 1
        #expect(try store(stored, in: engine))
        #expect(try engine.maintainInTurn(), "nothing was maintained yet")
        let steps = Steps()
        fileSystem.intercept { operation in
            steps.note(operation)
            guard operation.kind == .unlink, steps.evictions.load(ordering: .relaxed) == 1 else { return }
            // Within the transaction. A store that needed another one would end the process.
            do { try engine.store(noise(20), "beside") } catch { Issue.record(error) }
        }
        func free() -> Int64 { engine.catalog.inMemory { $0.allowance.free } }
        var hasRenewed = false
        while steps.evictions.load(ordering: .relaxed) == 0, stored < 1000 {
            let before = free()
            stored += 1
            #expect(try store(stored, in: engine))
            #expect(!hasRenewed || free() < before, "a store has to wait for a grant")
            #expect(steps.evictions.load(ordering: .relaxed) == 0, "a store evicts for itself")
            if engine.isUrgent {
                #expect(try !engine.maintainInTurn(), "the rest is not due yet")
                hasRenewed = true
            }
        }
        #expect(try engine.content("beside") != nil)
        #expect(steps.evictions.load(ordering: .relaxed) > 20)
        #expect((1...2).contains(steps.most.load(ordering: .relaxed)), "all of them at once")
        #expect(free() > 1 << 19)
    }

    /// Other maintenance has its turn between the steps, and leaves the rest to them.
    @Test func aFullCacheIsTrimmedInStepsWhateverElseIsDue() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try engine(fileSystem, probe: nil)
        try engine.configure(.fixed(.mebibytes(80)))
        var stored = 0
        while try store(stored, in: engine, .onlyIntoFreeSpace) { stored += 1 }
        #expect(try engine.maintainInTurn())
        let steps = Steps()
        fileSystem.intercept { steps.note($0) }
        #expect(try store(stored + 1, in: engine))
        var turns = 0
        repeat {
            turns += 1
            clock.advance(5000)
        } while try !engine.maintainInTurn() && turns < 10
        #expect(turns == 2)
        #expect(steps.evictions.load(ordering: .relaxed) > 70)
        #expect((1...2).contains(steps.most.load(ordering: .relaxed)), "all of them at once")
        let report = try engine.capacity()
        #expect(report.chargedBytes + report.catalogBytes <= Watermarks.low(report.ceilingBytes))
    }

    /// What was stored since the volume was last measured is not taken for what a step did not free.
    @Test func theBudgetIsNotRaisedByTrimming() throws {
        let volume = SimulatedVolume(total: 256 << 20, available: 125 << 20)
        let engine = try engine(InterceptingFileSystem(on: volume), probe: nil)
        let budget = try engine.capacity().budgetBytes
        // A minute of 2 MiB a second.
        let perSecond = 35
        for number in 0..<60 * perSecond {
            clock.now = Int64(number * 1000 / perSecond)
            #expect(try store(number, of: 60_000, in: engine))
            if engine.isUrgent { _ = try engine.maintainInTurn() }
        }
        #expect(try engine.statistics().evictions > 1000)
        #expect(try engine.catalog.reading { try Unreleased($0).bytes } == 0)
        #expect(try engine.capacity().budgetBytes <= budget)
    }

    /// A grant that could not be entered is not spent, though the rest of its transaction is committed.
    @Test func aGrantThatCannotBeEnteredIsNotSpent() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try engine(fileSystem)
        try engine.configure(.fixed(.gibibytes(4)))
        for number in 0..<40 { #expect(try store(number, in: engine)) }
        let failures = CallCounter()
        fileSystem.fail(.diskQuotaExceeded) {
            $0.kind == .write && $0.name.hasSuffix(".lock") && $0.offset == 0 && failures.next() >= 0
        }
        try engine.admission.writeBacklog()
        #expect(failures.value > 0)
        fileSystem.intercept { _ in }
        let held = engine.catalog.inMemory { $0.allowance }
        let row = try container.catalog.integer(sql: "SELECT SUM(allowance) FROM writer")
        #expect(row == held.free + held.reserved + held.unrecorded)
        #expect(held.uncertain == 0)
    }

    /// What a full volume has the cache remove without a transaction was perhaps stored again since its row was written.
    @Test func whatIsRemovedForAFullVolumeIsNoLongerHeld() throws {
        let engine = try engine(InterceptingFileSystem())
        try engine.configure(.fixed(.gibibytes(4)))
        #expect(try store(0, in: engine))
        try engine.flush()
        for number in 1..<20 { #expect(try store(number, in: engine)) }
        var hasFailed = false
        var transfer = Transfer()
        try engine.admission.run(makingRoom: true, givingUp: false, &transfer) { _, _ in
            guard !hasFailed else { return }
            hasFailed = true
            #expect(try store(0, in: engine))
            throw DatabaseError(resultCode: .SQLITE_FULL)
        }
        #expect(hasFailed)
        #expect(try engine.content(ItemKey(number: 0)) == nil)
        try engine.flush()
        #expect(engine.catalog.inMemory { $0.allowance.unrecorded } == 0)
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }
}
