import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A promotion that stops at each of its calls in turn, as if its process had died there, and what
/// the next process makes of it.
@Suite struct InterruptedPromotionTests {
    private static let content = prose(30_000)

    /// Lets `count` changes through and fails all later ones.
    private static func failing(after count: Int, _ fileSystem: InterceptingFileSystem) -> OperationLog {
        let log = OperationLog()
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind.isChange else { return }
            if log.operations.count >= count { throw FileSystemError("\(operation)", errno: .ioError) }
            log.add(operation)
        }
        return log
    }

    @Test(arguments: [ItemEncoding.lz4, .identity], [false, true])
    func whateverTheStepTheNextOpenFindsOneWholeFile(encoding: ItemEncoding, withConflict: Bool) throws {
        for steps in TestRun.numbers(every: 6) {
            let container = try TemporaryContainer()
            if withConflict {
                try FileManager.default.createDirectory(
                    at: container.documents, withIntermediateDirectories: true)
                try Data("foreign".utf8).write(to: container.documents.appending(path: "Doc.txt"))
            }
            let fileSystem = InterceptingFileSystem()
            let dying = try container.engine(fileSystem: fileSystem)
            try dying.store(Self.content, "Doc.txt", encoding: .forced(encoding))
            try dying.flush()

            let log = Self.failing(after: steps, fileSystem)
            var hasSucceeded = false
            do {
                hasSucceeded = try dying.open("Doc.txt").value != nil
            } catch {
                #expect("\(error)".isEmpty == false)
            }

            let next = try container.engine()
            let opened = try #require(try next.open("Doc.txt").value, "lost at step \(steps)")
            #expect(try Data(contentsOf: opened.url) == Self.content, "step \(steps) of \(log.operations)")
            let expected = withConflict ? ["Doc (2).txt", "Doc.txt"] : ["Doc.txt"]
            #expect(try container.files(below: container.documents) == expected, "step \(steps)")
            if withConflict {
                let foreign = container.documents.appending(path: "Doc.txt")
                #expect(try Data(contentsOf: foreign) == Data("foreign".utf8), "step \(steps)")
            }
            // The dead process may not have written that the item is gone; asking for it tells.
            #expect(try next.content("Doc.txt") == Self.content)
            #expect(try next.items().isEmpty, "step \(steps)")
            let staging = try container.files(below: container.support.appending(path: "staging"))
            #expect(staging.allSatisfy { $0.hasSuffix(".lock") }, "step \(steps)")
            if hasSucceeded { return #expect(steps > 5) }
        }
    }

    /// As when the volume of the destination was mounted, or not, since.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func whatWasStagedElsewhereIsFound(encoding: ItemEncoding) throws {
        let container = try TemporaryContainer()
        let fileSystem = InterceptingFileSystem()
        do {
            let dying = try container.engine(fileSystem: fileSystem)
            try dying.store(Self.content, "Doc.txt", encoding: .forced(encoding))
            fileSystem.intercept { operation throws(FileSystemError) in
                if operation.newName == "Doc.txt" { throw FileSystemError("rename", errno: .ioError) }
            }
            #expect(throws: CacheError.self) { try dying.open("Doc.txt") }
        }
        let staging = container.support.appending(path: "staging")
        let elsewhere = container.documents.appending(path: CacheLayout.foreignStaging.string)
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
        for name in try container.files(below: staging) where !name.hasSuffix(".lock") {
            try FileManager.default.moveItem(
                at: staging.appending(path: name), to: elsewhere.appending(path: name))
        }
        try FileManager.default.removeItem(at: container.caches)
        let opened = try #require(try container.engine().open("Doc.txt").value)
        #expect(try Data(contentsOf: opened.url) == Self.content)
        #expect(try container.files(below: elsewhere).isEmpty)
        #expect(try container.files(below: staging).allSatisfy { $0.hasSuffix(".lock") })
    }

    /// A volume that is too full for the ledger is too full for leftovers.
    @Test func whatIsStagedGoesWhenItsIntentCannotBeEntered() throws {
        let world = SimulatedWorld()
        let items = [SimulatedItem("one", .lz4), SimulatedItem("two", .lz4)]
        for item in items { try world.cache(item) }
        let engine = try world.engine()
        world.fileSystem.intercept { operation throws(FileSystemError) in
            if operation.kind == .commit { throw FileSystemError("commit", errno: .noSpace) }
        }
        #expect(throws: CacheError.self) { try engine.open("one") }
        for result in engine.open(items.map(\.key)) {
            #expect(throws: CacheError.self) { _ = try result.get() }
        }
        world.fileSystem.intercept { _ in }
        let staging = engine.destinations.support.staging
        let names = try world.fileSystem.entries(of: staging.descriptor).map(\.name.string)
        #expect(names.allSatisfy { $0.hasSuffix(".lock") })
    }

    @Test func theStepsComeInTheirOrder() throws {
        let container = try TemporaryContainer()
        let log = OperationLog()
        let engine = try container.engine(fileSystem: log.fileSystem())
        try engine.store(Self.content, "Doc.txt")
        log.clear()
        _ = try engine.open("Doc.txt")

        let hash = ItemKey("Doc.txt").hash
        let steps = log.operations
        func first(_ matches: @escaping (FileSystemTestSupport.Operation) -> Bool) throws -> Int {
            try #require(steps.firstIndex(where: matches))
        }
        let staged = try #require(
            steps.first { $0.kind == .write && $0.name.hasPrefix(hash.hexadecimal) }
        ).name
        let contentIsDurable = try first { $0.kind == .synchronize && $0.name == staged }
        let published = try first { $0.kind == .rename && $0.newName == "Doc.txt" }
        let nameIsDurable = try first {
            $0.kind == .synchronize && $0.name == container.documents.path
        }
        let cachedCopyGone = try first {
            $0.kind == .unlink && $0.name == CacheLayout.file(of: hash).string
        }
        #expect(
            [contentIsDurable, published, nameIsDurable, cachedCopyGone].sorted()
                == [contentIsDurable, published, nameIsDurable, cachedCopyGone])
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func theLedgerKnowsBeforeTheFileHasItsNameAndBeforeTheCachedCopyGoes(encoding: ItemEncoding) throws {
        let container = try TemporaryContainer()
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let key: ItemKey = "Doc.txt"
        try engine.store(Self.content, key, encoding: .forced(encoding))

        let states = Mutex<[String: LedgerEntry.State?]>([:])
        let ledger = Ledger(in: engine.destinations.support.root, at: FilePath(container.support.path))
        fileSystem.intercept { operation in
            let isPublishing = operation.kind == .rename && operation.newName == "Doc.txt"
            let isRemoving =
                operation.kind == .unlink && operation.name == CacheLayout.file(of: key.hash).string
            guard isPublishing || isRemoving else { return }
            do {
                let state = try ledger.entry(for: key)?.state
                states.withLock { $0[isPublishing ? "publish" : "remove"] = state }
            } catch {
                Issue.record(error)
            }
        }
        _ = try engine.open(key)
        // A renamed item has left its old name behind already.
        let removal: [String: LedgerEntry.State?] = encoding == .lz4 ? ["remove": .committed] : [:]
        #expect(states.withLock { $0 } == removal.merging(["publish": .intent]) { $1 })
    }

    @Test func recoveryFlushesTheNameBeforeItCommits() throws {
        let container = try TemporaryContainer()
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(Self.content, "Doc.txt")
        let documents = container.documents.path
        fileSystem.intercept { operation throws(FileSystemError) in
            if operation.kind == .synchronize, operation.name == documents {
                throw FileSystemError("fsync", errno: .ioError)
            }
        }
        #expect(throws: CacheError.self) { try engine.open("Doc.txt") }
        #expect(throws: CacheError.self) { try engine.open("Doc.txt") }
        let log = OperationLog()
        let next = try container.engine(fileSystem: log.fileSystem())
        #expect(try next.open("Doc.txt").value != nil)
        #expect(log.operations.contains { $0.kind == .synchronize && $0.name == documents })
    }

    @Test func aFailedFlushIsNeverSuccess() throws {
        for failure in 0..<3 {
            let container = try TemporaryContainer()
            let fileSystem = InterceptingFileSystem()
            let engine = try container.engine(fileSystem: fileSystem)
            try engine.store(Self.content, "Doc.txt")
            let calls = CallCounter()
            fileSystem.intercept { operation throws(FileSystemError) in
                guard operation.kind == .synchronize else { return }
                if calls.next() == failure { throw FileSystemError("fsync", errno: .ioError) }
            }
            #expect(throws: CacheError.self) { try engine.open("Doc.txt") }
        }
    }
}
