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
