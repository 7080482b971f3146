import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Cached copies of items that were handed over: what the user deletes stays deleted.
@Suite struct LeftoverTests {
    private let container = TemporaryContainer.make()

    private var isCached: Bool { container.item("Doc.txt").exists }

    /// Has a process open an item, and die before it removes the cached copy.
    private func openAndDie() throws {
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        try dying.store(prose(9000), "Doc.txt")
        fileSystem.die(before: { $0.kind == .unlink && $0.name.contains("/") })
        attempt { _ = try dying.open("Doc.txt") }
        #expect(isCached)
    }

    /// Reads the dead process's list before maintenance does, or only then.
    @Test(arguments: [false, true]) func aProcessThatLivesOnRemovesWhatADeadOneHasLeft(isReading: Bool) throws
    {
        let living = try container.engine()
        try openAndDie()
        if isReading { #expect(try living.items().count == 1) }
        try living.maintain()
        #expect(!isCached)
        #expect(try living.statistics().chargedBytes == 0)
        let locks = try container.files(below: container.incoming)
        #expect(locks == ["\(living.environment.session).lock"])
    }

    /// The list of the dead process stays until its copy can be removed.
    @Test func whatIsInUseElsewhereIsRemovedLater() throws {
        let (living, other) = (try container.engine(), try container.engine())
        try openAndDie()
        try other.promoter.locks.hold(ItemKey("Doc.txt").hash) { () throws(CacheError) in
            try living.maintain()
            #expect(isCached)
        }
        try living.maintain()
        #expect(!isCached)
        let locks = try container.files(below: container.incoming)
        #expect(!locks.contains { $0.hasSuffix(".list") }, "\(locks)")
    }

    @Test func aFileThatItsUserDeletesAfterACrashIsNotHandedOverAgain() throws {
        try openAndDie()
        try container.document("Doc.txt").remove()

        let engine = try container.engine()
        #expect(throws: CacheError.self) { try engine.open("Doc.txt") }
        #expect(try container.files(below: container.documents).isEmpty)
        #expect(try !engine.contains("Doc.txt"), "and it may be downloaded")
        #expect(try engine.store(prose(100), "Doc.txt").isStored)
        #expect(try engine.open("Doc.txt").value?.isFirstOpen == true)
    }

    @Test func aStoreThatEndsAfterItsKeyWasOpenedDoesNotBringTheFileBack() throws {
        let engine = try container.engine()
        let other = try container.engine()
        try engine.store(prose(9000), "Doc.txt")
        let store = try engine.begin("Doc.txt", expectedLength: 1 << 20)
        try store.append(mebibytes: 1)
        let opened = try #require(try other.open("Doc.txt").value)
        #expect(try store.commit() == .refused(.alreadyPromoted))
        #expect(!isCached)
        try opened.url.remove()
        #expect(throws: CacheError.self) { try engine.open("Doc.txt") }
        #expect(try container.files(below: container.documents).isEmpty)
        try engine.flush()
        #expect(try engine.items().isEmpty)
        #expect(try container.engine().statistics().chargedBytes == 0)
    }

    /// Between the look at the ledger and the removal, the key is forgotten and stored anew.
    @Test func aStoreThatCameTooLateRemovesNobodyElsesItem() throws {
        let interruption = Mutex<(@Sendable () throws -> Void)?>(nil)
        let ledger = InterceptedLedger(
            try container.engine().ledger,
            afterReading: { entry in
                guard entry?.state == .committed else { return }
                try interruption.withLock { $0.take() }?()
            })
        let engine = try container.engine(ledger: ledger)
        let other = try container.engine()
        try engine.store(prose(9000), "Doc.txt")
        let store = try engine.begin("Doc.txt", expectedLength: 1 << 20)
        try store.append(mebibytes: 1)
        _ = try other.open("Doc.txt")
        interruption.withLock {
            $0 = {
                _ = try other.forget("Doc.txt")
                try other.store(prose(8000), "Doc.txt")
            }
        }
        #expect(try store.commit().isStored, "and was replaced at once")
        #expect(try other.content("Doc.txt") == prose(8000))
        try other.close()
        try engine.flush()
        #expect(try engine.items().map(\.contentBytes) == [8000])
    }

    @Test func aFileThatIsPutBackWhileItsKeyIsStoredAgainStays() throws {
        let engine = try container.engine()
        try engine.store(prose(9000), "Doc.txt")
        let opened = try #require(try engine.open("Doc.txt").value)
        try opened.url.move(to: container.document("mine"))
        let store = try engine.begin("Doc.txt", expectedLength: 1 << 20)
        try store.append(mebibytes: 1)
        try container.document("mine").move(to: opened.url)
        #expect(try store.commit() == .refused(.alreadyPromoted))
        #expect(try engine.open("Doc.txt").value?.path == opened.path)
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(try container.files(below: container.documents) == ["Doc.txt"])
    }

    /// The record is forgotten with the publishing of the newer version, and not before.
    @Test(arguments: [Intent.opportunistic, .userRequested])
    func aNewerVersionThatCannotBePublishedLeavesTheRecord(intent: Intent) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(9000), "Doc.txt")
        let opened = try #require(try engine.open("Doc.txt").value)
        let store = try Self.newerVersion(intent, in: engine)
        fileSystem.fail { $0.isPublishing }
        #expect(throws: CacheError.self) { try store.commit() }
        fileSystem.intercept { _ in }
        let entry = try #require(try engine.ledger.entry(for: "Doc.txt"))
        if intent == .opportunistic { #expect(entry.state == .committed) }
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        let again = try #require(try engine.open("Doc.txt").value)
        let expected = intent == .opportunistic ? prose(9000) : prose(9000, seed: 7)
        #expect(try Data(contentsOf: again.url) == expected)
    }

    /// Written, and not committed.
    private static func newerVersion(_ intent: Intent, in engine: Engine) throws -> UnfinishedStore {
        let metadata = ItemMetadata("Doc.txt", intent: intent)
        guard
            case .begun(let store) = try engine.beginStore(
                metadata, encoding: .automatic, expectedLength: 9000, whenPromoted: .storeAgain)
        else { throw CancellationError() }
        let refusal = try store.offer(prose(9000, seed: 7))
        #expect(refusal == nil)
        return store
    }

    /// The record of the newer version takes the place of the first at one moment.
    @Test func aNewerVersionThatCannotBeEnteredLeavesTheRecord() throws {
        let isRefusing = Atomic<Bool>(false)
        let ledger = InterceptedLedger(try container.engine().ledger) { _, changes throws(CacheError) in
            if isRefusing.load(ordering: .relaxed), changes.contains(where: { $0.new != nil }) {
                throw .database(name: "ledger", message: "refused")
            }
        }
        let engine = try container.engine(ledger: ledger)
        try engine.store(prose(9000), "Doc.txt")
        let opened = try #require(try engine.open("Doc.txt").value)
        let store = try Self.newerVersion(.userRequested, in: engine)
        isRefusing.store(true, ordering: .relaxed)
        #expect(throws: CacheError.self) { try store.commit() }
        isRefusing.store(false, ordering: .relaxed)
        #expect(try engine.ledger.entry(for: "Doc.txt")?.state == .committed)
        #expect(try engine.open("Doc.txt").value?.path == opened.path)
        #expect(try Data(contentsOf: opened.url) == prose(9000))
    }
}
