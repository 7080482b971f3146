import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// What was opened is there, and can be opened again, on a real volume without a free byte and on one that takes no
/// writes: by a process that finds the ledger at rest, and by one that finds the log of a process that was killed.
@Suite(
    .enabled(
        if: !SmallVolume.fileSystems.isEmpty,
        "A volume of its own needs root, the file system's mkfs and a loop device."),
    .serialized)
struct UnwritableVolumeTests {
    enum Ledger: CaseIterable {
        case atRest, withItsLog, withALogAlone
    }

    private static let opened = noise(1 << 20, seed: 1)
    private static let waiting = noise(1 << 20, seed: 2)

    /// A volume with a cache, some of whose items were opened.
    private struct World {
        let volume: SmallVolume
        let container: TemporaryContainer

        init(_ kind: SmallVolume.Kind, _ ledger: Ledger) throws {
            volume = try SmallVolume(kind, megabytes: 360)
            container = try TemporaryContainer(in: volume.root)
            let engine = try container.engine(probe: nil)
            for (key, content) in ["opened": opened, "waiting": waiting] as [ItemKey: Data] {
                try store(content, key, in: engine)
            }
            for number in 0..<8 { try store(noise(1 << 20), ItemKey(number: number), in: engine) }
            try engine.flush()
            if ledger == .atRest {
                _ = try engine.open("opened")
                try engine.close()
                return
            }
            // A process that is killed leaves the log beside the ledger.
            let other = try container.engine(probe: nil)
            _ = try other.open("opened")
            var kept: [URL: Data] = [:]
            for side in ledger == .withItsLog ? ["", "-wal", "-shm"] : ["", "-wal"] {
                let file = container.support.appending(path: "record.sqlite\(side)")
                kept[file] = try Data(contentsOf: file)
            }
            try engine.close()
            try other.close()
            for (file, content) in kept { try content.write(to: file) }
        }

        private func store(_ content: Data, _ key: ItemKey, in engine: Engine) throws {
            #expect(try engine.store(content, key, encoding: .forced(.identity)).isStored)
        }

        /// What needs no writing.
        func expectReadable() throws {
            let engine = try container.engine(probe: nil)
            let found = try #require(try engine.open("opened").value)
            #expect(!found.isFirstOpen)
            #expect(try isSame(Data(contentsOf: found.url), opened))
            #expect(try isSame(engine.content("opened"), opened))
            #expect(try isSame(engine.content("waiting"), waiting))
            #expect(try engine.status(of: "opened").isPromoted)
            #expect(try engine.status(of: "waiting").isCached)
            #expect(try engine.statistics().items == 9)
            #expect(try engine.items().count == 9)
            #expect(try engine.capacity().chargedBytes > 9 << 20)
            #expect(try engine.ledger.hashes().count == 1)
            try engine.close()
        }
    }

    @Test(arguments: SmallVolume.fileSystems, Ledger.allCases)
    func onAFullOneWhatWasOpenedIsReadAndWhatWasNotIsOpenedAtTheExpenseOfOthers(
        _ kind: SmallVolume.Kind, _ ledger: Ledger
    ) throws {
        let world = try World(kind, ledger)
        try world.volume.fill()
        try world.expectReadable()

        let engine = try world.container.engine(probe: nil)
        #expect(try engine.store(noise(1 << 20), "new") == .refused(.pressure(.critical)))
        let found = try #require(try engine.open("waiting").value)
        #expect(found.isFirstOpen)
        #expect(try isSame(Data(contentsOf: found.url), Self.waiting))
        #expect(try engine.open("waiting").value?.isFirstOpen == false)
        #expect(try engine.ledger.hashes().count == 2)
        try engine.close()
    }

    @Test(arguments: SmallVolume.fileSystems, Ledger.allCases)
    func onAReadOnlyOneWhatWasOpenedIsReadAndTheRestSaysWhy(
        _ kind: SmallVolume.Kind, _ ledger: Ledger
    ) throws {
        let world = try World(kind, ledger)
        try world.volume.remount(isReadOnly: true)
        try world.expectReadable()

        let engine = try world.container.engine(probe: nil)
        _ = try engine.content("waiting")
        for attempt in [
            { _ = try engine.open("waiting") }, { try engine.flush() },
            { _ = try engine.store(noise(1 << 20), "new") }, { _ = try engine.forget("opened") },
        ] {
            let error = #expect(throws: CacheError.self) { try attempt() }
            #expect(error?.description.contains("Read-only file system") == true)
        }
        try engine.close()
        try world.volume.remount(isReadOnly: false)
    }
}
