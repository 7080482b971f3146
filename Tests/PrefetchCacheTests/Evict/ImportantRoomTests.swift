import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// No item is given up for what the user asked for when there is no room for it all the same.
@Suite struct ImportantRoomTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws {
        engine = try container.engine()
        try engine.configure(.fixed(.mebibytes(64))) {
            $0.largestItem = .mebibytes(64)
            $0.capacityModel.reservePerMille = 0
        }
        for number in 0..<10 { try engine.store(noise(1 << 20), ItemKey(number: number)) }
        try engine.flush()
    }

    /// On a volume with so little room that items have to make way for nearly everything.
    private func request(_ bytes: Int64) throws -> Engine {
        let low = Int64(1 << 30) / 20
        let spare = low + (1 << 20) + (try container.chargedOnDisk())
        let other = try container.engine(probe: HelpingVolume(container: container, spare: spare))
        try other.admission.makeImportantRoom(bytes, in: other.folders.current.items)
        return other
    }

    private func expectRefusalThatCostsNothing(_ bytes: Int64, available: Range<Int64>) throws {
        let error = try #require(throws: CacheError.self) { _ = try request(bytes) }
        guard case .insufficientSpace(bytes, let found) = error else { throw error }
        #expect(available.contains(found))
        #expect(try engine.statistics().items == 10)
        #expect(try container.files(below: container.items).count == 10)
    }

    @Test func whatIsUnderWayDoesNotMakeWay() throws {
        let store = try engine.begin(
            ItemMetadata("under way"), encoding: .forced(.identity), expectedLength: 40 << 20)
        for _ in 0..<30 { try store.append(noise(1 << 20)) }
        try engine.flush()
        try expectRefusalThatCostsNothing(15 << 20, available: 11 << 20..<12 << 20)
        #expect(try (1...2).contains(request(9 << 20).statistics().items))
        try store.cancel()
    }

    @Test func whatIsPinnedDoesNotMakeWay() throws {
        let pins = try (0..<5).map { try #require(try engine.folders.openItem(ItemKey(number: $0).hash)) }
        try expectRefusalThatCostsNothing(9 << 20, available: 6 << 20..<9 << 20)
        pins.forEach(engine.environment.fileSystem.close)
        #expect(try (1...2).contains(request(9 << 20).statistics().items))
    }

    /// Where there is nothing to evict, what is kept free is kept free to the last byte.
    @Test func anEmptyCacheAddsNothing() throws {
        _ = try engine.evict(.max)
        for excess in [1, 100_000] as [Int64] {
            let error = try #require(throws: CacheError.self) { _ = try request(1 << 20 + excess) }
            #expect(error == .insufficientSpace(needed: 1 << 20 + excess, available: 1 << 20))
        }
        _ = try request(1 << 20)
    }

    @Test func whatCannotBeOpenedForWantOfRoomCostsNothing() throws {
        let pins = try (0..<5).map { try #require(try engine.folders.openItem(ItemKey(number: $0).hash)) }
        let spare = (1 << 20) + (try container.chargedOnDisk())
        let other = try container.engine(probe: HelpingVolume(container: container, spare: spare))
        let error = try #require(throws: CacheError.self) {
            try other.admission.makeRoomToOpen(9 << 20, in: other.folders.current.items)
        }
        guard case .insufficientSpace(_, let available) = error else { throw error }
        #expect((6 << 20..<9 << 20).contains(available))
        #expect(try engine.statistics().items == 10)
        pins.forEach(engine.environment.fileSystem.close)
        try other.admission.makeRoomToOpen(9 << 20, in: other.folders.current.items)
        #expect((1...2).contains(try engine.statistics().items))
    }

    @Test(.enabled(if: SmallVolume.isPossible, "Mounting a volume needs root on Linux."))
    func onAFullVolumeNothingGoesForWhatDoesNotFit() throws {
        let volume = try SmallVolume(megabytes: 40)
        let container = try TemporaryContainer(in: volume.root)
        let first = try container.engine(probe: nil)
        for number in 0..<5 { try first.store(noise(500_000), ItemKey(number: number)) }
        try first.close()
        try volume.fill()
        let engine = try container.engine(probe: nil)
        let items = engine.folders.current.items
        #expect(throws: CacheError.self) { try engine.admission.makeImportantRoom(2 << 20, in: items) }
        #expect(throws: CacheError.self) { try engine.admission.makeRoomToOpen(4 << 20, in: items) }
        #expect(try container.files(below: container.items).count == 5)
        try engine.admission.makeRoomToOpen(1 << 20, in: items)
        #expect(try volume.available >= 1 << 20)
    }
}
