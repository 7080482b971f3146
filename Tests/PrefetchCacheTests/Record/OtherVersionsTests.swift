import Foundation
import GRDB
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Containers of other builds.
@Suite struct OtherVersionsTests {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    private func setVersion(_ version: Int) throws {
        let queue = try DatabaseQueue(path: container.record.path)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = \(version)") }
        try queue.close()
    }

    /// `EarlierContainer` was made by `cachectl` before 1.0: `put` of four items, `open` of three, `configure --policy sieve`.
    @Test func aContainerOfAnEarlierBuildIsReadWithAllThatItKnows() throws {
        let earlier = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "EarlierContainer")
        for name in ["Documents", "Library"] {
            try FileManager.default.copyItem(
                at: earlier.appending(path: name), to: container.root.appending(path: name))
        }
        let numbers = Data((1...300).map { "\($0)\n" }.joined().utf8)
        let engine = try container.engine()
        #expect(try engine.configuration.current().budget == .automaticUpTo(.bytes(500_000_000)))
        #expect(try engine.configuration.current().evictionPolicy == .lru)
        #expect(try engine.items().map(\.key) == ["numbers"])
        #expect(try engine.content("numbers") == numbers)
        for (key, name) in [("paper", "numbers.txt"), ("book", "book.txt"), ("guide", "bun")] {
            let opened = try #require(try engine.open(ItemKey(key)).value)
            #expect(!opened.isFirstOpen)
            #expect(opened.path.lastComponent?.string == name)
        }
        let figures = try engine.historyRows().total
        #expect(figures[.stored] == 4 && figures[.opened] == 3 && figures[.storedBytes] == 2194)
        let paper = try #require(try engine.ledger.entry(for: "paper"))
        #expect(paper.folder == "Papers")
        #expect(paper.provenance?.source == "journal")
        #expect(try engine.open("numbers").value?.isFirstOpen == true)
        #expect(try Data(contentsOf: container.support.appending(path: "files/numbers.txt")) == numbers)
        #expect(try container.engine().open("numbers").value?.isFirstOpen == false)
        let names = try FileManager.default.contentsOfDirectory(atPath: container.support.path)
        #expect(!names.contains { ["ledger.sqlite", "history", "journal"].contains($0) })
    }

    @Test func aNewerLedgerIsRefusedAndLeftAsItIs() throws {
        let newer = RecordSchema.version + 1
        for key in ["opened", "other"] as [ItemKey] { try container.engine().store(prose(5000), key) }
        _ = try container.engine().open("opened")
        try setVersion(newer)
        let before = try Data(contentsOf: container.record)
        let engine = try container.engine()
        for key in ["opened", "other"] as [ItemKey] {
            #expect(throws: CacheError.newerLedger(version: newer)) { try engine.open(key) }
            #expect(throws: CacheError.newerLedger(version: newer)) { try engine.forget(key) }
        }
        #expect(try engine.content("other") == prose(5000))
        #expect(try engine.items().map(\.key) == ["other"])
        #expect(try engine.evict(.max) > 0)
        #expect(try Data(contentsOf: container.record) == before)
        #expect("\(CacheError.newerLedger(version: newer))".contains("update the software"))
    }

    @Test func aLedgerThatWasNeverReleasedIsRefusedAndLeftAsItIs() throws {
        try container.engine().store(prose(5000), "opened")
        _ = try container.engine().open("opened")
        try setVersion(1)
        let before = try Data(contentsOf: container.record)
        let error = #expect(throws: CacheError.self) { try container.engine().open("opened") }
        #expect("\(try #require(error))".contains("version 1 was never released"))
        #expect(try Data(contentsOf: container.record) == before)
    }
}
