import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Two processes that work on one key: whoever writes the catalog last, it says what is on disk.
@Suite struct SharedKeyTests {
    private let container = TemporaryContainer.make()
    private let one: Engine
    private let other: Engine

    init() throws {
        one = try container.engine()
        other = try container.engine()
    }

    private func expectThatTheBooksAgreeWithTheDisk() throws {
        let statistics = try container.engine().statistics()
        let items = try container.files(below: container.items)
        #expect(statistics.chargedBytes == (try container.chargedOnDisk()))
        #expect(statistics.items == items.count)
    }

    /// Whatever another process does to a key between the look at its item and the next step.
    private func engine(
        after kind: FileSystemTestSupport.Operation.Kind, of name: String,
        _ body: @escaping @Sendable () throws -> Void
    ) throws -> Engine {
        let isDone = Mutex(false)
        return try container.engine(
            fileSystem: InterceptingFileSystem { operation throws(FileSystemError) in
                guard operation.kind == kind, operation.name.hasSuffix(name),
                    !isDone.withLock({ done in
                        defer { done = true }
                        return done
                    })
                else { return }
                do { try body() } catch { Issue.record(error) }
            })
    }

    /// The item that is read has lost its footer by then, and its name.
    @Test func anItemThatIsPromotedWhileItIsReadIsNoDamagedOne() throws {
        let key: ItemKey = "key"
        try other.store(noise(9000), key)
        let reader = try engine(after: .lock, of: CacheLayout.file(of: key.hash).string) { [other] in
            _ = try other.open(key)
        }
        #expect(try reader.content(key) == noise(9000))
        #expect(try reader.statistics().quarantinedItems == 0)
    }

    @Test func anItemThatIsStoredAnewWhileADamagedOneIsReadStays() throws {
        let key: ItemKey = "key"
        try other.store(noise(9000), key)
        try Data("no item at all, and longer than a trailer is".utf8).write(to: container.item("key"))
        let reader = try engine(after: .lock, of: CacheLayout.file(of: key.hash).string) { [other] in
            try other.store(noise(7000), key)
        }
        #expect(try reader.content(key) == nil)
        #expect(try reader.content(key) == noise(7000))
        #expect(try reader.statistics().quarantinedItems == 0)
    }

    @Test func anItemThatIsStoredAnewWhileItIsOpenedIsTheOneThatIsHandedOver() throws {
        let key: ItemKey = "key"
        try other.store(noise(9000), key)
        let opener = try engine(after: .access, of: container.documents.path) { [other] in
            try other.store(noise(7000), key)
        }
        let opened = try #require(try opener.open(key).value)
        #expect(try Data(contentsOf: opened.url) == noise(7000))
        #expect(try container.files(below: container.documents) == ["key"])
    }

    /// What another process does to an item before the first one has recorded what it did.
    enum Meanwhile: CaseIterable {
        case replaced, removed, evictedWithItsPredecessorsRow, storedAnewAfterItWasRemoved
    }

    @Test(arguments: Meanwhile.allCases) func anItemIsChargedAsWhatBecameOfIt(meanwhile: Meanwhile) throws {
        try one.store(noise(1000), "key")
        switch meanwhile {
        case .replaced: try other.store(noise(300_000), "key")
        case .removed: #expect(try other.remove("key"))
        case .evictedWithItsPredecessorsRow:
            try one.flush()
            try one.store(noise(300_000), "key")
            _ = try other.evict(.max)
        case .storedAnewAfterItWasRemoved:
            try one.flush()
            #expect(try one.remove("key"))
            try other.store(noise(300_000), "key")
        }
        try other.flush()
        try one.flush()
        try expectThatTheBooksAgreeWithTheDisk()
        let isThere = [.replaced, .storedAnewAfterItWasRemoved].contains(meanwhile)
        #expect(try one.items().map(\.contentBytes) == (isThere ? [300_000] : []))
    }

    @Test func aReplacementWhoseProcessDiedIsChargedAsWhatItIs() throws {
        try other.store(noise(1000), "key")
        try other.close()
        do {
            let dying = try container.engine()
            try dying.store(noise(300_000), "key")
        }
        try expectThatTheBooksAgreeWithTheDisk()
        #expect(try container.engine().items().map(\.contentBytes) == [300_000])
    }

    @Test func twoProcessesThatFindAnItemGoneDebitItOnce() throws {
        for number in 0..<4 { try one.store(noise(10_000 * (number + 1)), ItemKey(number: number)) }
        try one.flush()
        try container.item(ItemKey(number: 1)).remove()
        #expect(try one.content(ItemKey(number: 1)) == nil)
        #expect(try other.content(ItemKey(number: 1)) == nil)
        try one.flush()
        try other.flush()
        try expectThatTheBooksAgreeWithTheDisk()

        try container.item(ItemKey(number: 0)).remove()
        let charge = try #require(try one.items().first).chargedBytes
        #expect(try one.evict(1) == charge)
        try expectThatTheBooksAgreeWithTheDisk()
        _ = try other.evict(1)
        try expectThatTheBooksAgreeWithTheDisk()
        #expect(try one.items().map(\.key) == [ItemKey(number: 3)])
    }
}
