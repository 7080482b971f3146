import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Somebody has put a symbolic link where promotion writes: nothing outside the container is touched.
@Suite struct PlantedLinkTests {
    private let container = TemporaryContainer.make()
    private let outside: TemporaryContainer
    private let key: ItemKey = "key"

    init() throws {
        outside = try TemporaryContainer()
        let engine = try container.engine()
        try engine.store(prose(9000), key)
        try engine.close()
        try Data("secret".utf8).write(to: outside.root.appending(path: "file"))
    }

    private func plant(_ place: URL, to target: URL) throws {
        try place.deletingLastPathComponent().makeFolder()
        if place.exists { try place.remove() }
        try place.makeLink(to: target)
    }

    private func expectNothingOutsideHasChanged() throws {
        let files = try container.files(below: outside.root)
        let content = try Data(contentsOf: outside.root.appending(path: "file"))
        var record = AttackRecord("attackers.planted-links", of: "links in the place of a path", cases: 1)
        record.note(\.foreignTouched, if: files != ["file"] || content != Data("secret".utf8))
        #expect(record.isHarmless, "\(files)")
        record.report()
    }

    @Test(arguments: ["file", "nobody"])
    func underTheNameOfTheFileItIsATakenName(target: String) throws {
        try plant(container.document("key"), to: outside.root.appending(path: target))
        let opened = try #require(try container.engine().open(key).value)
        #expect(opened.url.lastPathComponent == "key (2)")
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        try expectNothingOutsideHasChanged()
    }

    @Test(arguments: ["Library/Caches", "Library/Application Support"], ["file", "nobody"])
    func inThePlaceOfADatabaseItIsAnErrorThatNamesIt(area: String, target: String) throws {
        let name = area == "Library/Caches" ? CacheLayout.catalog : CacheLayout.record
        let place = container.root.appending(path: "\(area)/PrefetchCache/\(name)")
        try plant(place, to: outside.root.appending(path: target))
        expectError(naming: name) {
            let engine = try container.engine()
            _ = try engine.open(key)
            try engine.flush()
            _ = try engine.items()

        }
        try expectNothingOutsideHasChanged()
        try place.remove()
        #expect(try container.engine().open(key).value != nil)
    }

    /// SQLite would follow a link, and make or empty the file that it leads to; at a pipe it would wait for a writer.
    @Test(
        arguments: [CacheLayout.catalog, CacheLayout.record].flatMap { database in
            CacheLayout.databaseSides.map { database + $0 }
        }, [false, true])
    func inThePlaceOfASideFileItIsAnErrorThatNamesIt(name: String, isPipe: Bool) throws {
        let folder = name.hasPrefix(CacheLayout.catalog) ? container.caches : container.support
        let place = folder.appending(path: name)
        if isPipe {
            if place.exists { try place.remove() }
            try #require(mkfifo(place.path, 0o600) == 0)
        } else {
            try plant(place, to: outside.root.appending(path: "nobody"))
        }
        expectError(naming: name) {
            let engine = try container.engine()
            _ = try engine.open(key)
            _ = try engine.items()
        }
        try expectNothingOutsideHasChanged()
        try place.remove()
        #expect(try container.engine().open(key).value != nil)
    }

    /// Each name has a journal of its own, and what is written under one of them is in all.
    @Test func aLedgerWithASecondNameIsAnErrorThatNamesIt() throws {
        _ = try container.engine().open(key)
        let ledger = container.support.appending(path: CacheLayout.record)
        let second = outside.root.appending(path: "second")
        try FileManager.default.linkItem(at: ledger, to: second)
        let before = try Data(contentsOf: second)
        expectError(naming: CacheLayout.record) { _ = try container.engine().open(key) }
        #expect(try Data(contentsOf: second) == before)
        try second.remove()
        #expect(try container.engine().open(key).value != nil)
    }

    /// Into the lock file goes what a writer may hold.
    @Test func aWritersLockWithASecondNameIsGivenUp() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let lock = container.caches.appending(path: "incoming/\(engine.environment.session).lock")
        let file = outside.root.appending(path: "file")
        let calls = CallCounter()
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind == .open, operation.name.hasSuffix(lock.lastPathComponent), calls.next() == 0
            else { return }
            // The first store takes the lock.
            guard link(file.path, lock.path) == 0 else { throw FileSystemError("link", errno: .ioError) }
        }
        #expect(try engine.store(noise(100), "one").isStored)
        #expect(calls.next() > 0)
        try expectNothingOutsideHasChanged()

        try FileManager.default.linkItem(at: lock, to: outside.root.appending(path: "late"))
        let held = try Data(contentsOf: lock)
        try engine.begin("two", expectedLength: 5 << 20).cancel()
        #expect(try Data(contentsOf: outside.root.appending(path: "late")) == held)
        #expect(try container.engine().store(noise(100), "three").isStored)
    }

    @Test(arguments: ["link", "pipe"])
    func whatLooksAtTheCatalogDoesNotFollowItAndDoesNotWait(_ kind: String) throws {
        let engine = try container.engine()
        _ = try engine.items()
        try plant(container.catalog, to: outside.root.appending(path: "file"))
        if kind == "pipe" {
            try container.catalog.remove()
            try #require(mkfifo(container.catalog.path, 0o600) == 0)
        }
        #expect(throws: CacheError.self) { _ = try CatalogView.look(in: engine.folders) }
        try expectNothingOutsideHasChanged()
    }

    @Test func aCatalogWithASecondNameIsMadeAnew() throws {
        let second = outside.root.appending(path: "second")
        try FileManager.default.linkItem(at: container.catalog, to: second)
        let before = try Data(contentsOf: second)
        let engine = try container.engine()
        try engine.store(noise(100), "other")
        #expect(try engine.items().count == 2)
        #expect(try Data(contentsOf: second) == before)
    }

    @Test func inThePlaceOfAFolderOfItemsItIsAnErrorThatNamesIt() throws {
        let other: ItemKey = "other"
        let folder = container.caches.appending(path: "items/\(CacheLayout.folder(of: other.hash).string)")
        try plant(folder, to: outside.root)
        let engine = try container.engine()
        expectError(naming: "items/\(folder.lastPathComponent)") { _ = try engine.store(noise(100), other) }
        try expectNothingOutsideHasChanged()
        #expect(try engine.content(key) == prose(9000))
        try folder.remove()
        #expect(try engine.store(noise(100), other).isStored)
    }

    @Test func inThePlaceOfStagingItIsAnErrorThatNamesIt() throws {
        let staging = container.staging
        try plant(staging, to: outside.root)
        expectError(naming: "staging") { _ = try container.engine() }
        try expectNothingOutsideHasChanged()
        try staging.remove()
        #expect(try container.engine().open(key).value != nil)
    }

    @Test(arguments: ["file", "nobody"])
    func inThePlaceOfALockItIsAnErrorThatNamesIt(target: String) throws {
        let lock = CacheLayout.keyLocks.string
        try plant(
            container.support.appending(path: "staging/\(lock)"), to: outside.root.appending(path: target))
        let engine = try container.engine()
        expectError(naming: lock) { _ = try engine.open(key) }
        try expectNothingOutsideHasChanged()
        #expect(try engine.content(key) == prose(9000))
    }

    @Test func whereRoomIsKeptAnotherNameOfAFileIsReplaced() throws {
        let staging = container.staging
        let rooms = (0..<8).map { staging.appending(path: "room-\($0).lock") }
        for room in rooms { try room.remove() }
        try FileManager.default.linkItem(at: outside.root.appending(path: "file"), to: rooms[3])
        let engine = try container.engine()
        #expect(try engine.open(key).value != nil)
        try engine.close()
        #expect(rooms.allSatisfy { $0.exists })
        // What was planted is gone, not lengthened or filled.
        let file = try FileManager.default.attributesOfItem(atPath: outside.root.appending(path: "file").path)
        #expect(file[.referenceCount] as? Int == 1)
        try expectNothingOutsideHasChanged()
    }
}
