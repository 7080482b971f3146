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
    private let container = TemporaryContainer.make()
    private static let content = prose(30_000)

    enum Place: CaseIterable { case free, taken, inAFolder }

    @Test(arguments: [ItemEncoding.lz4, .identity], Place.allCases)
    func whateverTheStepTheNextOpenFindsOneWholeFile(encoding: ItemEncoding, place: Place) throws {
        let folder: FolderPath? = place == .inAFolder ? "Podcasts/Daily" : nil
        for steps in TestRun.numbers(every: 6) {
            if place == .taken { try container.document("Doc.txt").place("foreign") }
            let fileSystem = InterceptingFileSystem()
            let dying = try container.engine(fileSystem: fileSystem)
            let metadata = ItemMetadata(key: "Doc.txt", destination: .documents("Doc.txt", in: folder))
            try dying.store(Self.content, as: metadata, encoding: .forced(encoding))
            try dying.flush()

            let log = OperationLog()
            fileSystem.intercept { operation throws(FileSystemError) in
                guard operation.kind.isChange else { return }
                if log.operations.count >= steps { throw FileSystemError("\(operation)", errno: .ioError) }
                log.add(operation)
            }
            var hasSucceeded = false
            do {
                hasSucceeded = try dying.open("Doc.txt").value != nil
            } catch {
                #expect("\(error)" != "")
            }

            let next = try container.engine()
            let opened = try #require(try next.open("Doc.txt").value, "lost at step \(steps)")
            #expect(try Data(contentsOf: opened.url) == Self.content, "step \(steps) of \(log.operations)")
            let expected = [
                Place.free: ["Doc.txt"], .taken: ["Doc (2).txt", "Doc.txt"],
                .inAFolder: ["Podcasts/Daily/Doc.txt"],
            ]
            #expect(try container.files(below: container.documents) == expected[place], "step \(steps)")
            if place == .taken {
                let foreign = try Data(contentsOf: container.document("Doc.txt"))
                #expect(foreign == Data("foreign".utf8), "step \(steps)")
            }
            // The dead process may not have written that the item is gone; asking for it tells.
            #expect(try next.content("Doc.txt") == Self.content)
            #expect(try next.items().isEmpty, "step \(steps)")
            #expect(try container.staged() == [], "step \(steps)")
            if hasSucceeded { return #expect(steps > 5) }
        }
    }

    /// As when the volume of the destination was mounted, or not, since.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func whatWasStagedElsewhereIsFound(encoding: ItemEncoding) throws {
        let fileSystem = InterceptingFileSystem()
        do {
            let dying = try container.engine(fileSystem: fileSystem)
            try dying.store(Self.content, "Doc.txt", encoding: .forced(encoding))
            fileSystem.fail { $0.newName == "Doc.txt" }
            #expect(throws: CacheError.self) { try dying.open("Doc.txt") }
        }
        let staging = container.staging
        let elsewhere = container.documents.appending(path: CacheLayout.foreignStaging.string)
        try elsewhere.makeFolder()
        for name in try container.files(below: staging) where !name.hasSuffix(".lock") {
            try staging.appending(path: name).move(to: elsewhere.appending(path: name))
        }
        try container.caches.remove()
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
        world.fileSystem.fail(.noSpace) { $0.kind == .commit }
        #expect(throws: CacheError.self) { try engine.open("one") }
        for result in engine.open(items.map(\.key)) {
            #expect(throws: CacheError.self) { _ = try result.get() }
        }
        world.fileSystem.intercept { _ in }
        let staging = engine.destinations.support.staging
        let names = try world.fileSystem.entries(of: staging.descriptor).map(\.name.string)
        #expect(names.allSatisfy { $0.hasSuffix(".lock") })
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func theLedgerKnowsBeforeTheFileHasItsNameAndBeforeTheCachedCopyGoes(encoding: ItemEncoding) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let key: ItemKey = "Doc.txt"
        try engine.store(Self.content, key, encoding: .forced(encoding))

        let states = Mutex<[String: LedgerEntry.State?]>([:])
        let ledger = Ledger(
            record: Record(in: engine.destinations.support.root, at: FilePath(container.support.path)))
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
}
