import FileSystem
import FileSystemTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCache

/// An item while it is being handed over.
@Suite struct HandOverTests {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    /// Whatever others ask for between any two calls of an open, they are told that the item is there.
    @Test(arguments: [ItemEncoding.lz4, .identity], [false, true])
    func anItemThatIsHandedOverIsThereAtEveryMoment(encoding: ItemEncoding, isTaken: Bool) throws {
        if isTaken {
            try FileManager.default.createDirectory(at: container.documents, withIntermediateDirectories: true)
            try Data("foreign".utf8).write(to: container.documents.appending(path: "Doc.txt"))
        }
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

    @Test func twoWhoHoldTheLockOfAKeyDoNotBothHandItOver() throws {
        let locks = container.support.appending(path: "staging")
        for moment in stride(from: 1, through: 60, by: 2) {
            let key = try ItemKey("Doc-\(moment).txt")
            let fileSystem = InterceptingFileSystem()
            let engine = try container.engine(fileSystem: fileSystem)
            let other = try container.engine()
            try engine.store(noise(9000), key, encoding: .forced(.identity))
            let count = CallCounter()
            let opened = OpenedFiles()
            fileSystem.intercept { _ in
                guard count.next() == moment else { return }
                do {
                    let lock = locks.appending(path: CacheLayout.keyLock(of: key.hash).string)
                    if FileManager.default.fileExists(atPath: lock.path) {
                        try FileManager.default.removeItem(at: lock)
                    }
                    opened.add(try other.open(key).value)
                } catch {
                    // It gives up; what counts is that there is one file.
                    #expect("\(error)" != "")
                }
            }
            do { opened.add(try engine.open(key).value) } catch { #expect("\(error)" != "") }
            fileSystem.intercept { _ in }
            let names = try container.files(below: container.documents).filter { $0.hasPrefix("Doc-\(moment)") }
            #expect(names == ["\(key)"], "moment \(moment)")
            #expect(try container.engine().open(key).value?.isFirstOpen != nil, "moment \(moment)")
            #expect(opened.paths.count <= 1)
        }
    }

    /// Whoever waited for a lock file that was removed meanwhile takes the one in its place.
    @Test func aLockOnARemovedFileIsNone() throws {
        let support = try container.engine().promoter.support
        let hash = ItemKey("key").hash
        let file = container.support.appending(path: "staging/\(CacheLayout.keyLock(of: hash).string)")
        let fileSystem = InterceptingFileSystem()
        let isRemoved = Mutex(false)
        fileSystem.intercept { operation in
            guard operation.kind == .lock, !isRemoved.withLock({ $0 }) else { return }
            isRemoved.withLock { $0 = true }
            do { try FileManager.default.removeItem(at: file) } catch { Issue.record(error) }
        }
        let staging = Directory(
            try fileSystem.open(
                FilePath(container.support.appending(path: "staging").path), in: .workingDirectory, .directory),
            of: fileSystem)
        let held = try KeyLock(staging: staging).take([hash])
        defer { for lock in held { fileSystem.unlock(lock) } }
        var isFree = false
        try KeyLock(staging: support.staging).holdIfFree(hash) { isFree = true }
        #expect(!isFree)
    }
}

extension Engine {
    /// Whether a store in the middle of a promotion is stored or refused because the item is handed over.
    fileprivate func stores(_ content: Data, _ key: ItemKey, exactly: FileSystemTestSupport.Operation) throws -> Bool {
        guard try folders.openItem(key.hash).map({ environment.fileSystem.close($0) }) == nil else { return true }
        return try store(content, key) == .refused(.alreadyPromoted)
    }
}
