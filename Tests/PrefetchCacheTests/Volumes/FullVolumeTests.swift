import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A real volume with no byte free.
@Suite(.enabled(if: SmallVolume.isPossible, "Mounting a volume needs root on Linux."), .serialized)
struct FullVolumeTests {
    private func expectNoPartial(_ container: TemporaryContainer) throws {
        #expect(try container.partials() == [])
    }

    /// - Parameter handedOver: Files, each with what it must hold.
    private func report(served: [(Data?, Data)] = [], handedOver: [(URL, Data)] = []) throws {
        var record = AttackRecord("disk.full-volumes", of: "volumes that are full", cases: 1)
        for (found, content) in served { record.note(\.wrongBytes, if: !isSame(found, content)) }
        for (file, content) in handedOver {
            record.note(\.lostPromotions, if: try Data(contentsOf: file) != content)
        }
        #expect(record.isHarmless)
        record.report()
    }

    @Test(arguments: SmallVolume.kinds)
    func everyItemThatGoesIsReported(kind: SmallVolume.Kind) async throws {
        let volume = try SmallVolume(kind, megabytes: 20)
        let container = try TemporaryContainer(in: volume.root)
        let engine = try container.engine(probe: nil)
        for number in 0..<8 { try engine.store(noise(100_000), ItemKey(number: number)) }
        try engine.close()
        try volume.fill()
        let other = try container.engine(probe: nil)
        let events = other.events.stream()
        _ = try other.evict(.max)
        #expect(try other.statistics().evictions == 8)
        // Once all is gone there is nothing to write, either.
        try volume.fill()
        #expect(try other.evict(.max) == 0)
        try other.close()
        var evicted: [String] = []
        for await event in events { if case .evicted(let key, _) = event { evicted.append(key.string) } }
        #expect(evicted == (0..<8).map { "item-\($0)" })
    }

    /// Nothing is there that could be evicted for it, nor was anything opened before.
    @Test(arguments: SmallVolume.kinds)
    func anItemOpensAlthoughNeitherAByteNorAnInodeIsFree(kind: SmallVolume.Kind) throws {
        let volume = try SmallVolume(
            kind, megabytes: 100, options: kind == .tmpfs ? "noatime,nr_inodes=4000" : "noatime")
        let container = try TemporaryContainer(in: volume.root)
        do {
            let engine = try container.engine(probe: nil)
            try engine.store(noise(1 << 20), "only", encoding: .forced(.identity))
            try engine.close()
        }
        try volume.exhaustInodes()
        try volume.fill()
        let engine = try container.engine(probe: nil)
        let opened = try #require(try engine.open("only").value)
        #expect(opened.isFirstOpen)
        try report(handedOver: [(opened.url, noise(1 << 20))])
    }

    /// The probe is told that there is plenty: the write itself has to fail.
    ///
    /// Each length has a volume of its own: a child that another test starts has copies of all descriptors until it
    /// runs its program, and holds the space of a deleted file for that long.
    @Test(arguments: SmallVolume.kinds, [nil, 12 << 20] as [Int64?])
    func aVolumeThatIsFullInTheMiddleOfAnItemRefusesIt(kind: SmallVolume.Kind, length: Int64?) throws {
        let volume = try SmallVolume(kind, megabytes: 60)
        let container = try TemporaryContainer(in: volume.root)
        let engine = try container.engine()
        try engine.store(noise(100_000), "older")
        try engine.flush()
        try volume.leave(5 << 20)

        let available = try volume.available
        let store = try engine.begin(ItemMetadata("large"), expectedLength: length)
        var refusal: Refusal?
        var written = 0
        while refusal == nil, written < 12 {
            refusal = try store.offer(noise(1 << 20))
            written += 1
        }
        #expect(refusal == .pressure(.critical))
        #expect(written > 2)
        try expectNoPartial(container)
        try volume.settle()
        #expect(try available - volume.available < 128 << 10)
        try report(served: [(engine.content("older"), noise(100_000))])
        #expect(try engine.content("large") == nil)
    }
}
