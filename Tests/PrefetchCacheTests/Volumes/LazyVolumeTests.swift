import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Volumes that give the space of removed files back later, as XFS and btrfs do, or never.
@Suite struct LazyVolumeTests {
    private let container = TemporaryContainer.make()

    /// A cache of 50 items of 1 MiB on a volume of 1 GiB that others leave so much of.
    ///
    /// - Parameter reserve: Thousandths of the volume.
    private func engine(
        leaving available: Int64, reserve: Int64 = 0, budget: CacheConfiguration.Budget,
        on volume: SimulatedVolume, _ interceptor: @escaping Interceptor = { _ in }
    ) throws -> Engine {
        let engine = try container.engine(
            fileSystem: InterceptingFileSystem(on: volume, interceptor), probe: nil)
        try engine.configure(budget) { $0.capacityModel.reservePerMille = reserve }
        for number in 0..<50 {
            try engine.store(noise(1 << 20, seed: UInt64(number)), ItemKey(number: number))
        }
        try engine.flush()
        #expect(try engine.statistics().items == 50)
        volume.takeForOthers(volume.figures.available - available)
        return engine
    }

    private func volume(_ freeing: SimulatedVolume.Freeing) -> SimulatedVolume {
        SimulatedVolume(total: 1 << 30, available: 1 << 30, freeing: freeing)
    }

    @Test(arguments: [SimulatedVolume.Freeing.lazily(calls: .max), .lazily(calls: 7), .atOnce])
    func whatTheUserAsksForFindsTheRoomThatComesLater(freeing: SimulatedVolume.Freeing) throws {
        let volume = volume(freeing)
        let engine = try engine(leaving: 60 << 20, budget: .fixed(.mebibytes(64)), on: volume)
        let before = volume.figures.available
        try engine.admission.makeImportantRoom(40 << 20, in: engine.folders.current.items)
        let low = Int64(1 << 30) / 20
        #expect(volume.figures.available >= low + 40 << 20)
        // And no more than that was given up.
        let needed = low + 40 << 20 - before
        let items = try engine.statistics().items
        #expect((50 - needed >> 20 - 3...50 - needed >> 20).contains(Int64(items)))
    }

    @Test func anItemOpensInTheRoomThatComesLater() throws {
        let volume = volume(.lazily(calls: .max))
        let engine = try engine(leaving: 2 << 20, budget: .fixed(.mebibytes(64)), on: volume)
        try engine.admission.makeRoomToOpen(20 << 20, in: engine.folders.current.items)
        #expect(volume.figures.available >= 20 << 20)
        #expect(try engine.statistics().items >= 29)
    }

    @Test func reliefGoesOnWhereTheRoomComesLater() throws {
        let volume = volume(.lazily(calls: .max))
        let engine = try engine(leaving: 60 << 20, budget: .fixed(.mebibytes(64)), on: volume)
        try engine.maintain()
        let low = Int64(1 << 30) / 20
        #expect(volume.figures.available >= 2 * low)
        #expect(try engine.statistics().items > 0)
    }

    /// It may take long, and other processes wait meanwhile.
    @Test(
        arguments: [SimulatedVolume.Freeing.lazily(calls: .max), .lazily(calls: 7), .never], [false, true])
    func aVolumeIsSynchronisedTwiceAtMost(freeing: SimulatedVolume.Freeing, isRequested: Bool) throws {
        let volume = volume(freeing)
        let synchronised = CallCounter()
        let engine = try engine(leaving: 40 << 20, budget: .fixed(.mebibytes(64)), on: volume) { operation in
            if operation.kind == .synchronizeVolume { _ = synchronised.next() }
        }
        let low = Int64(1 << 30) / 20
        if isRequested {
            let made = Result {
                try engine.admission.makeImportantRoom(37 << 20, in: engine.folders.current.items)
            }
            if freeing != .never {
                try made.get()
                #expect(volume.figures.available >= low + 37 << 20)
            }
        } else {
            try engine.maintain()
        }
        #expect(synchronised.next() <= 2)
    }

    @Test func whereNothingComesARequestCostsOneStep() throws {
        let volume = volume(.never)
        let engine = try engine(leaving: 60 << 20, budget: .fixed(.mebibytes(64)), on: volume)
        #expect(throws: CacheError.self) {
            try engine.admission.makeImportantRoom(40 << 20, in: engine.folders.current.items)
        }
        #expect(try engine.statistics().items >= 33)
    }

    /// The file system is not asked to write everything as long as eviction shows.
    @Test func whereTheRoomComesAtOnceNothingIsSynchronised() throws {
        let volume = volume(.atOnce)
        let engine = try engine(leaving: 60 << 20, budget: .fixed(.mebibytes(64)), on: volume) { operation in
            if operation.kind == .synchronizeVolume { Issue.record("\(operation)") }
        }
        try engine.admission.makeImportantRoom(40 << 20, in: engine.folders.current.items)
        try engine.maintain()
        _ = try engine.evict(5 << 20)
    }

    /// With nothing under pressure, a trim costs one measurement more than none.
    @Test(arguments: [40, 64])
    func aTrimLooksAtTheVolumeOnceMoreAndListsNothing(budget: Int64) throws {
        let engine = try engine(leaving: 500 << 20, budget: .fixed(.mebibytes(64)), on: volume(.atOnce))
        let file = container.support.appending(path: CacheLayout.configuration.string)
        let text = try String(contentsOf: file, encoding: .utf8)
        // By hand: whoever configures the cache trims it at once.
        try text.replacing("\(64 << 20)", with: "\(budget << 20)").write(
            to: file, atomically: true, encoding: .utf8)
        let (measurements, listings) = (CallCounter(), CallCounter())
        let fileSystem = try #require(engine.environment.fileSystem as? InterceptingFileSystem)
        fileSystem.intercept { operation in
            if operation.kind == .volume { _ = measurements.next() }
            // Processes that have died are looked for.
            if operation.kind == .entries, operation.name != "incoming" { _ = listings.next() }
        }
        try engine.maintain()
        let isTrimmed = try engine.items().count < 50
        #expect(isTrimmed == (budget == 40))
        // One of them for the room that is kept for opens, one before what was counted is written.
        #expect(measurements.next() == (isTrimmed ? 4 : 2))
        #expect(listings.next() == 0)
    }

    @Test(arguments: [SimulatedVolume.Freeing.never, .lazily(calls: .max)])
    func trimmingAgainAndAgainStopsAtTheBudgetWhereRemovingFreesNothing(freeing: SimulatedVolume.Freeing)
        throws
    {
        let volume = volume(freeing)
        // Less than the reserve of 154 MiB is free, and more than what makes pressure low.
        let engine = try engine(leaving: 130 << 20, reserve: 150, budget: .automatic, on: volume)
        let budget = try engine.capacity().capacity.budget
        #expect(budget > 20 << 20)
        try engine.maintain()
        #expect(try engine.statistics().pressure == .elevated)
        let remaining = try engine.statistics().items
        for round in 0..<8 {
            // Somebody else writes a little, so that the volume never looks the same.
            volume.takeForOthers(round % 2 == 0 ? 4096 : -4096)
            // Every other round as another process does.
            if round % 2 == 0 {
                try engine.maintain()
            } else {
                let other = try container.engine(fileSystem: InterceptingFileSystem(on: volume), probe: nil)
                try other.admission.trimToBudget()
                try other.close()
            }
        }
        let statistics = try engine.statistics()
        #expect(statistics.items >= remaining - 1)
        #expect(statistics.chargedBytes > budget * 85 / 100)
        #expect(statistics.chargedBytes <= budget)
    }

    /// What was given up and is not free yet must not be given away a second time.
    @Test func whatIsNotFreeYetAdmitsNothing() throws {
        let volume = volume(.never)
        let engine = try engine(leaving: 130 << 20, reserve: 150, budget: .automatic, on: volume)
        try engine.maintain()
        let report = try engine.capacity()
        let state = report.capacity.state
        #expect(
            report.ceilingBytes <= max(0, state.available + report.chargedBytes - report.capacity.reserve))
    }

    @Test func whatBecomesFreeLaterCountsOnce() throws {
        let volume = volume(.lazily(calls: .max))
        let engine = try engine(leaving: 130 << 20, reserve: 150, budget: .automatic, on: volume)
        try engine.maintain()
        let early = try engine.capacity()
        try InterceptingFileSystem(on: volume).synchronizeVolume(of: engine.folders.current.items.descriptor)
        try engine.maintain()
        let late = try engine.capacity()
        #expect(abs(late.capacity.ownOrFree - early.capacity.ownOrFree) < 1 << 20)
        #expect(late.capacity.state.evictable < late.chargedBytes + 320 << 10, "and the room for opens")
        #expect(early.capacity.state.evictable > early.chargedBytes + 10 << 20)
    }
}
