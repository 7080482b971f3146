import Foundation
import Testing

@testable import PrefetchCaching

/// What the cache gives up under pressure when that does not help.
@Suite struct ReliefTests {
    private static let itemBytes = 1 << 20
    private let container = TemporaryContainer.make()
    private let volume = ToldVolume(VolumeState(total: 1 << 40, available: 1 << 39))
    private let engine: Engine

    init() throws { engine = try container.engine(probe: volume) }

    /// Without a reserve there is room for all: what goes goes for the pressure.
    private func fill() throws {
        try engine.configure(.fixed(.mebibytes(64))) { $0.capacityModel.reservePerMille = 0 }
        let content = noise(Self.itemBytes)
        for number in 0..<50 { try engine.store(content, ItemKey(number: number)) }
        #expect(try engine.statistics().items == 50)
    }

    /// - Parameter available: In MiB.
    @Test(arguments: [(20, "critical"), (60, "low")])
    func whenUnlinkingFreesNothingOnlyOneStepIsGivenUp(available: Int64, pressure: String) throws {
        try fill()
        volume.tell(VolumeState(total: 1 << 30, available: available << 20))
        try engine.maintain()
        let statistics = try engine.statistics()
        #expect("\(statistics.pressure)" == pressure)
        #expect(statistics.evictedBytes >= 16 << 20 || pressure == "low")
        #expect(statistics.evictedBytes < 16 << 20 + 2 * Self.itemBytes)
        #expect(statistics.items == 50 - Int(statistics.evictions))
        #expect(statistics.items > 30)
    }

    @Test func whereItDidNotHelpItIsTriedAgainWhenTheVolumeHasChanged() throws {
        try fill()
        volume.tell(VolumeState(total: 1 << 30, available: 20 << 20))
        try engine.maintain()
        let first = try engine.statistics().evictions
        for _ in 0..<3 { try engine.maintain() }
        #expect(try engine.statistics().evictions == first)
        volume.tell(VolumeState(total: 1 << 30, available: 19 << 20))
        try engine.maintain()
        let second = try engine.statistics().evictions
        #expect(second > first && second <= first * 2)
    }

    /// - Parameter gone: How many were gone already, which is no sign that unlinking does not help.
    @Test(arguments: [0, 20]) func whereUnlinkingHelpsEverythingIsGivenUp(gone: Int) throws {
        try fill()
        for number in 0..<gone { try container.item(ItemKey(number: number)).remove() }
        let other = try container.engine(probe: HelpingVolume(container: container))
        try other.maintain()
        #expect(try other.statistics().items == 0)
        #expect(try container.chargedOnDisk() == 0)
    }

    @Test func whatWasGoneAlreadyMakesNoRoomForWhatTheUserAskedFor() throws {
        try fill()
        for number in 0..<30 { try container.item(ItemKey(number: number)).remove() }
        let other = try container.engine(probe: HelpingVolume(container: container))
        try other.admission.makeImportantRoom(10 << 20, in: other.folders.current.items)
        #expect(try other.admission.watch.available() >= 10 << 20)
        #expect((1..<20).contains(try other.statistics().items))
    }
}
