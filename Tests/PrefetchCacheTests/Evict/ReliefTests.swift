import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What the cache gives up under pressure when that does not help.
@Suite struct ReliefTests {
    private static let itemBytes = 1 << 20
    private let container = TemporaryContainer.make()
    private let volume = ToldVolume(VolumeState(total: 1 << 40, available: 1 << 39))
    private let engine: Engine

    init() throws {
        engine = try container.engine(probe: volume)
    }

    /// Without a reserve there is room for all: what goes goes for the pressure.
    private func fill() throws {
        var configuration = CacheConfiguration(budget: .fixed(.mebibytes(64)))
        configuration.capacityModel.reservePerMille = 0
        try engine.configure(configuration)
        let content = noise(Self.itemBytes)
        for number in 0..<50 { try engine.store(content, ItemKey(number: number)) }
        #expect(try engine.statistics().items == 50)
    }

    @Test func whenUnlinkingFreesNothingOnlyOneStepIsGivenUp() throws {
        try fill()
        volume.tell(VolumeState(total: 1 << 30, available: 20 << 20))
        try engine.maintain()
        let statistics = try engine.statistics()
        #expect(statistics.pressure == .critical)
        #expect(statistics.evictedBytes >= 16 << 20)
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

    @Test func atLowPressureNoMoreThanAStepIsGivenUpInVain() throws {
        try fill()
        volume.tell(VolumeState(total: 1 << 30, available: 60 << 20))
        try engine.maintain()
        let statistics = try engine.statistics()
        #expect(statistics.pressure == .low)
        #expect(statistics.evictedBytes < 16 << 20 + 2 * Self.itemBytes)
    }

    @Test func whereUnlinkingHelpsEverythingIsGivenUp() throws {
        try fill()
        let helping = HelpingVolume(container: container)
        let other = try container.engine(probe: helping)
        try other.maintain()
        #expect(try other.statistics().items == 0)
    }

    @Test func whatWasGoneAlreadyIsNoSignThatUnlinkingDoesNotHelp() throws {
        try fill()
        for number in 0..<20 {
            try container.item(ItemKey(number: number)).remove()
        }
        let other = try container.engine(probe: HelpingVolume(container: container))
        try other.maintain()
        #expect(try other.statistics().items == 0)
        #expect(try container.chargedOnDisk() == 0)
    }

    @Test func whatWasGoneAlreadyMakesNoRoomForWhatTheUserAskedFor() throws {
        try fill()
        for number in 0..<30 {
            try container.item(ItemKey(number: number)).remove()
        }
        let other = try container.engine(probe: HelpingVolume(container: container))
        try other.admission.makeImportantRoom(10 << 20, in: other.folders.current.items)
        #expect(try other.admission.watch.available() >= 10 << 20)
        #expect((1..<20).contains(try other.statistics().items))
    }
}
