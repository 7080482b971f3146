import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// An item while it is being handed over.
@Suite struct HandOverTests {
    private let container = TemporaryContainer.make()

    /// Whatever others ask for between any two calls of an open, they are told that the item is there.
    @Test(arguments: [ItemEncoding.lz4, .identity], [false, true])
    func anItemThatIsHandedOverIsThereAtEveryMoment(encoding: ItemEncoding, isTaken: Bool) throws {
        if isTaken { try container.document("Doc.txt").place("foreign") }
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let other = try container.engine()
        try engine.store(prose(9000), "Doc.txt", encoding: .forced(encoding))
        let steps = Mutex(0)
        fileSystem.intercept { operation in
            guard operation.kind != .lock else { return }
            let step = steps.withLock { step in
                step += 1
                return step
            }
            do {
                let content = try other.content("Doc.txt")
                let isThere = try other.contains("Doc.txt")
                #expect(content == prose(9000), "step \(step), before \(operation)")
                #expect(isThere, "step \(step), before \(operation)")
                guard operation.kind == .rename || operation.kind == .synchronize else { return }
                let partial = try other.stores(prose(10), "Doc.txt", exactly: operation)
                #expect(partial)
            } catch {
                Issue.record(error, "step \(step), before \(operation)")
            }
        }
        let opened = try #require(try engine.open("Doc.txt").value)
        fileSystem.intercept { _ in }
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(steps.withLock { $0 } > 20)
    }

    /// A film may be gigabytes, and its destination out of reach for long.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func whetherItIsThereIsSeenWithoutReadingIt(encoding: ItemEncoding) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(9000), "Doc.txt", encoding: .forced(encoding))
        fileSystem.fail { $0.newName == "Doc.txt" }
        #expect(throws: CacheError.self) { try engine.open("Doc.txt") }
        _ = try engine.remove("Doc.txt")
        let reads = CallCounter()
        fileSystem.intercept { if $0.kind == .read { _ = reads.next() } }
        #expect(try engine.contains("Doc.txt"))
        #expect(try engine.status(of: "Doc.txt").isPromoted)
        #expect(try engine.store(prose(10), "Doc.txt") == .refused(.alreadyPromoted))
        #expect(reads.next() == 0)
        #expect(try engine.content("Doc.txt") == prose(9000))
    }

    /// At every moment of an open, its lock file is removed, and another process opens the key.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func twoWhoHoldTheLockOfAKeyDoNotBothHandItOver(encoding: ItemEncoding) throws {
        let item = SimulatedItem("Doc.txt", encoding)
        let lock = SimulatedWorld.staging.pushing(CacheLayout.keyLocks)
        var moment = 0
        while true {
            moment += 1
            let world = SimulatedWorld()
            try world.cache(item)
            let (engine, other) = (try world.engine(), try world.engine())
            let (count, at) = (CallCounter(), moment)
            let paths = Mutex<Set<FilePath>>([])
            let interrupted = Mutex("")
            world.fileSystem.intercept { operation in
                guard count.next() == at else { return }
                interrupted.withLock { $0 = "\(operation)" }
                world.fileSystem.undisturbed {
                    do {
                        if world.fileSystem.disk.content(of: lock) != nil {
                            try world.fileSystem.removeFile(lock)
                        }
                        if let path = try other.open(item.key).value?.path {
                            paths.withLock { _ = $0.insert(path) }
                        }
                    } catch let error as CacheError {
                        // It gives up; what counts is that there is one file.
                        #expect("\(error)" != "")
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            do {
                if let path = try engine.open(item.key).value?.path { paths.withLock { _ = $0.insert(path) } }
            } catch {
                #expect("\(error)" != "")
            }
            world.fileSystem.intercept { _ in }
            guard count.next() > moment else { break }
            let place = "moment \(moment), before \(interrupted.withLock { $0 })"
            let last = try #require(try world.engine().open(item.key).value, "\(place)")
            #expect(paths.withLock { $0.union([last.path]).count } == 1, "\(place)")
            let files = world.fileSystem.disk.files(in: SimulatedWorld.areas.documents)
            #expect(files == ["Doc.txt": item.content], "\(place)")
        }
        #expect(moment > 40)
    }

    /// Whoever waited for a lock file that was removed meanwhile takes the one in its place.
    @Test func aLockOnARemovedFileIsNone() throws {
        let support = try container.engine().destinations.support
        let hash = ItemKey("key").hash
        let file = container.support.appending(path: "staging/\(CacheLayout.keyLocks)")
        let fileSystem = InterceptingFileSystem()
        fileSystem.once(before: { $0.kind == .lock }) { try file.remove() }
        let staging = Directory(
            try fileSystem.open(
                FilePath(container.staging.path), in: .workingDirectory, .directory
            ),
            of: fileSystem)
        let isFree = try KeyLock(staging: staging, Patience()).hold(hash) { () throws(CacheError) in
            try KeyLock(staging: support.staging, Patience()).holdIfFree(hash) {}
        }
        #expect(!isFree)
    }

    @Test func aLockFileThatIsRemovedAgainAndAgainEndsTheCall() throws {
        let hash = ItemKey("k").hash
        let support = try SupportFolders(areas: container.areas(), fileSystem: LiveFileSystem())
        let file = container.support.appending(path: "staging/\(CacheLayout.keyLocks)")
        let fileSystem = InterceptingFileSystem { operation throws(FileSystemError) in
            guard operation.kind == .lock else { return }
            do { try file.remove() } catch { Issue.record(error) }
        }
        let staging = Directory(
            try fileSystem.open(
                FilePath(container.staging.path), in: .workingDirectory, .directory
            ),
            of: fileSystem)
        #expect {
            try KeyLock(staging: staging, Patience()).hold(hash) { () throws(CacheError) in }
        } throws: { error in
            guard case CacheError.fileSystem(let error) = error else { return false }
            return error.errno == .staleNFSFileHandle
        }
        withExtendedLifetime(support) {}
    }
}

extension Engine {
    /// Whether a store in the middle of a promotion is stored or refused because the item is handed over.
    fileprivate func stores(_ content: Data, _ key: ItemKey, exactly: FileSystemTestSupport.Operation) throws
        -> Bool
    {
        guard try folders.openItem(key.hash).map({ environment.fileSystem.close($0) }) == nil else {
            return true
        }
        return try store(content, key) == .refused(.alreadyPromoted)
    }
}
