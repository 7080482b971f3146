import Foundation
import Testing

@testable import PrefetchCaching

/// What a refused item leaves: nothing is held for it.
@Suite struct HeldBytesTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(8))
    private let volume = ToldVolume(VolumeState(total: 1 << 40, available: 1 << 39))
    private let engine: Engine

    init() throws { engine = try container.engine(probe: volume) }

    private func append(_ mebibytes: Int, to store: UnfinishedStore) throws -> Refusal? {
        for piece in 0..<mebibytes {
            let refusal = try store.offer(noise(1 << 20, seed: UInt64(piece)))
            if let refusal { return refusal }
        }
        return nil
    }

    @Test(arguments: [true, false], [nil, 20 << 20] as [Int64?])
    func afterARefusalNothingIsHeld(keeping: Bool, expectedLength: Int64?) throws {
        let begun = try engine.beginStore(
            ItemMetadata("large"), encoding: .forced(.identity), expectedLength: expectedLength,
            keepingPartial: keeping)
        if case .begun(let store) = begun { #expect(try append(20, to: store) != nil) }
        #expect(try engine.capacity().heldBytes == 0)
    }

    @Test(arguments: [true, false])
    func afterPressureHasEndedAnItemNothingIsHeld(keeping: Bool) throws {
        let store = try engine.begin(
            ItemMetadata("large"), encoding: .forced(.identity), expectedLength: 6 << 20,
            keepingPartial: keeping)
        #expect(try append(2, to: store) == nil)
        volume.tell(VolumeState(total: 1 << 40, available: 0))
        _ = engine.environment.now()
        #expect(try append(2, to: store) == .pressure(.critical))
        #expect(try engine.capacity().heldBytes == 0)
    }

    /// A report that names a length which is refused all the same is of no use.
    @Test func theLargestItemFitsBelowTheCeiling() throws {
        try engine.configure(.fixed(.mebibytes(800))) {
            $0.capacityModel.elevatedEnterPerMille = 0
            $0.capacityModel.elevatedLeavePerMille = 0
        }
        volume.tell(VolumeState(total: 1 << 30, available: 200 << 20))
        let report = try engine.capacity()
        #expect(report.ceilingBytes < 100 << 20)
        #expect(report.largestItemBytes == report.ceilingBytes)
    }
}
