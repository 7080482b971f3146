import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A process's place among the writers.
@Suite struct WriterSessionTests {
    private let container = TemporaryContainer.make()

    @Test func aBoundThatCannotBeReadNamesItsFile() throws {
        let engine = try container.engine()
        try engine.store(noise(100), "key")
        let name = "\(engine.environment.session).lock"
        try Data(repeating: 1, count: 16).write(
            to: container.caches.appending(path: "incoming/\(name)"), options: [])
        let error = try #require(throws: FileSystemError.self) {
            try WriterSession.bounds(in: engine.folders.current.incoming)
        }
        #expect(error.path == FilePath(name))
    }

    @Test func aListThatCannotBeReadRefusesNothing() throws {
        let writer = try container.engine()
        #expect(try writer.store(noise(100), "key").isStored)
        try writer.close()
        let name = "0123456789abcdef.lock"
        try Data(count: 64).write(to: container.caches.appending(path: "incoming/\(name)"))
        let fileSystem = InterceptingFileSystem()
        fileSystem.fail { $0.kind == .open && $0.name == name }
        let engine = try container.engine(fileSystem: fileSystem)
        #expect(try engine.items().map(\.key) == ["key"])
    }

    /// Between the two its file cannot be removed, as by a process that only looks.
    @Test func aWriterThatTakesItsLockWhileTheCatalogIsFilledIsEnteredOnce() throws {
        let writer = try container.engine()
        #expect(try writer.store(noise(100), "key").isStored)
        try writer.close()
        try container.caches.appending(path: CacheLayout.catalog).remove()
        let lock = container.caches.appending(path: "incoming/0123456789abcdef.lock")
        let live = LiveFileSystem()
        let held = Mutex<Descriptor?>(nil)
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try Data().write(to: lock)
        let isSwept = Atomic<Bool>(false)
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.name == lock.lastPathComponent else { return }
            if operation.kind == .unlink {
                isSwept.store(true, ordering: .relaxed)
                throw FileSystemError("unlink", errno: .ioError)
            }
            guard operation.kind == .open, isSwept.exchange(false, ordering: .relaxed) else { return }
            let file = try live.open(FilePath(lock.path), in: .workingDirectory, .read)
            _ = try live.lock(file, waiting: false)
            held.withLock { $0 = file }
        }
        #expect(try engine.items().map(\.key) == ["key"])
        let file = try #require(held.withLock { $0 })
        live.unlock(file)
    }

    @Test func aProcessThatOnlyEvictsLeavesNoLock() throws {
        let writer = try container.engine()
        #expect(try writer.store(noise(100), "key").isStored)
        try writer.close()
        let engine = try container.engine()
        #expect(try engine.evict(.max) > 0)
        #expect(engine.session.isWriter)
        try engine.close()
        #expect(try container.files(below: container.incoming).isEmpty)
    }

    /// The system purges all that is cached, and whoever had stored something opens, or removes, what another process has
    /// stored since, and dies.
    @Test(arguments: [false, true])
    func whatIsTakenAfterAPurgeIsListedWhereOthersLook(isOpened: Bool) throws {
        var dying: Engine? = try container.engine()
        #expect(try dying?.store(noise(100), "purged").isStored == true)
        try container.caches.remove()
        let writer = try container.engine()
        #expect(try writer.store(noise(100), "key").isStored)
        try writer.flush()
        if isOpened {
            #expect(try dying?.open("key").value?.isFirstOpen == true)
        } else {
            #expect(try dying?.remove("key") == true)
        }
        dying = nil

        let next = try container.engine()
        try next.maintain()
        let statistics = try next.statistics()
        #expect(statistics.items == 0 && statistics.chargedBytes == 0)
        #expect(!isOpened || statistics.figures[.opened] == 1)
    }

    /// A folder cannot be unlinked, and a link or a pipe in a lock's place is none that anybody holds.
    @Test(arguments: ["folder", "link", "pipe"], ["0123456789abcdef-1", "0123456789abcdef.lock"])
    func whatCannotBeSweptRefusesNothing(_ kind: String, _ name: String) throws {
        try container.engine().close()
        let place = container.caches.appending(path: "incoming/\(name)")
        switch kind {
        case "folder":
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        case "link":
            try place.makeLink(to: container.documents)
        default: try #require(mkfifo(place.path, 0o600) == 0)
        }
        // With and without a catalog.
        for key in ["one", "two"] as [ItemKey] {
            let engine = try container.engine()
            #expect(try engine.store(noise(100), key).isStored)
            #expect(try engine.content(key) == noise(100))
            #expect(try engine.open(key).value != nil)
            _ = try engine.repair(isDryRun: false)
            try engine.close()
            try container.catalog.remove()
        }
    }

    /// What a dead writer's row stands for, its partial that stays still takes.
    @Test func aPartialThatCannotBeRemovedStaysCharged() throws {
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        let session = dying.environment.session
        let store = try dying.begin("partial", expectedLength: 3 << 20)
        try store.append(mebibytes: 3)
        fileSystem.die()
        let stubborn = InterceptingFileSystem()
        stubborn.fail(.readOnlyFileSystem) { $0.kind == .unlink && $0.name.contains("\(session)-") }
        for hasCatalog in [true, false] {
            if !hasCatalog { try container.catalog.remove() }
            let engine = try container.engine(fileSystem: stubborn)
            #expect(try engine.store(noise(100), "key").isStored)
            let report = try engine.capacity()
            #expect(try report.chargedBytes + report.heldBytes >= container.chargedOnDisk())
            try engine.close()
        }
        let engine = try container.engine()
        _ = try engine.items()
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
        #expect(try container.files(below: container.incoming).isEmpty)
    }

    @Test(arguments: [FileSystemTestSupport.Operation.Kind.lock, .attributes])
    func aLockThatCannotBeTakenLeavesNoFileOpen(call: FileSystemTestSupport.Operation.Kind) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let before = fileSystem.openFiles
        fileSystem.fail { $0.kind == call && $0.name.hasSuffix(".lock") }
        #expect(throws: CacheError.self) { try engine.store(noise(100), "key") }
        #expect(fileSystem.openFiles == before)
    }
}
