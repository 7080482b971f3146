import Foundation
import GRDB
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Ledgers of other versions.
@Suite struct LedgerMigrationTests {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    private var ledger: URL { container.support.appending(path: "ledger.sqlite") }

    /// A ledger just as version 1 made it.
    private func makeVersion1(_ rows: [(key: String, name: String, state: Int, staged: String?)]) throws {
        try FileManager.default.createDirectory(at: container.support, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: ledger.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE promotion (
                        hash BLOB NOT NULL PRIMARY KEY, key TEXT NOT NULL, state INTEGER NOT NULL,
                        mode INTEGER NOT NULL, area INTEGER NOT NULL, name TEXT NOT NULL,
                        backup INTEGER NOT NULL, contentLength INTEGER NOT NULL,
                        contentChecksum INTEGER NOT NULL, stagedName TEXT NOT NULL,
                        inode INTEGER NOT NULL, openedAt INTEGER NOT NULL
                    );
                    PRAGMA user_version = 1;
                    """)
            for row in rows {
                let key = try ItemKey(row.key)
                try database.execute(
                    sql: "INSERT INTO promotion VALUES (?, ?, ?, 1, 1, ?, 1, 5, ?, ?, 4711, 1700000000000)",
                    arguments: [
                        key.hash.data, row.key, row.state, row.name, Int64(bitPattern: Self.checksum),
                        row.staged
                            ?? CacheLayout.staged(key.hash, session: "0123456789abcdef", number: 1).string,
                    ])
            }
        }
        try queue.close()
    }

    /// Of the five bytes `hello`.
    private static let checksum = {
        var checksum = ContentChecksum()
        Array("hello".utf8).withUnsafeBytes { checksum.update($0) }
        return checksum.finalize()
    }()

    private func version() throws -> Int? {
        let queue = try DatabaseQueue(path: ledger.path)
        return try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
    }

    @Test func anUpgradeTellsWhatWasOldAndADryRunLeavesItSo() throws {
        do {
            let engine = try container.engine(isRecovering: false)
            try engine.store(prose(100), "k")
            try engine.close()
        }
        try makeVersion1([("a", "Doc.txt", 2, nil)])
        do {
            let engine = try container.engine(isRecovering: false)
            #expect(
                try engine.upgrade(isDryRun: true).ledger == .init(before: 1, after: LedgerSchema.version))
            try engine.close()
        }
        #expect(try version() == 1)
        let catalog = try DatabaseQueue(path: container.catalog.path)
        try catalog.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 3") }
        try catalog.close()

        let engine = try container.engine(isRecovering: false)
        let report = try engine.upgrade(isDryRun: false)
        #expect(report.ledger == .init(before: 1, after: LedgerSchema.version))
        #expect(report.catalog == .init(before: 3, after: CatalogSchema.version))
        try engine.close()
        #expect(try version() == LedgerSchema.version)

        let next = try container.engine(isRecovering: false)
        #expect(try next.items().map(\.key) == ["k"])
        let again = try next.upgrade(isDryRun: false)
        #expect(again.ledger?.isChange == false && again.catalog?.isChange != true)
        try next.close()
    }

    @Test func aLedgerOfVersion1IsMigratedWithAllThatItKnows() throws {
        try makeVersion1([
            ("a", "Doc.txt", 2, nil), ("b", "Doc (2).txt", 2, nil), ("gone", "gone", 2, nil),
        ])
        try FileManager.default.createDirectory(at: container.documents, withIntermediateDirectories: true)
        for name in ["Doc.txt", "Doc (2).txt"] {
            try Data("hello".utf8).write(to: container.documents.appending(path: name))
        }
        let engine = try container.engine()
        #expect(try engine.open("a").value?.path.lastComponent?.string == "Doc.txt")
        let opened = try #require(try engine.open("b").value)
        #expect(opened.path.lastComponent?.string == "Doc (2).txt")
        #expect(opened.folder == nil)
        #expect(!opened.isFirstOpen)
        #expect(throws: CacheError.self) { try engine.open("gone") }
        let entry = try #require(try engine.ledger.entry(for: "b"))
        #expect(entry.plainName == "Doc (2).txt")
        #expect(entry.contentChecksum == Self.checksum)
        #expect(entry.inode == 4711)
        #expect(entry.openedAt == 1_700_000_000_000)
        #expect(try version() == LedgerSchema.version)

        // New rows are written to the same table.
        try engine.store(prose(5000), "c", in: "Podcasts")
        #expect(try engine.open("c").value?.isFirstOpen == true)
        #expect(try container.engine().open("a").value?.isFirstOpen == false)
        #expect(try container.engine().open("c").value?.folder == "Podcasts")
    }

    @Test func aPromotionThatVersion1BeganIsCompleted() throws {
        let key: ItemKey = "Doc.txt"
        let staged = CacheLayout.staged(key.hash, session: "0123456789abcdef", number: 1).string
        try makeVersion1([("Doc.txt", "Doc.txt", 1, staged)])
        let staging = container.support.appending(path: "staging")
        try FileManager.default.createDirectory(at: staging, withIntermediateDirectories: true)
        try Data("hello".utf8).write(to: staging.appending(path: staged))
        let opened = try #require(try container.engine().open(key).value)
        #expect(try Data(contentsOf: opened.url) == Data("hello".utf8))
        #expect(try container.files(below: container.documents) == ["Doc.txt"])
    }

    /// Many times: whoever looks while another is at it must neither fail nor find nothing.
    @Test(arguments: 1...10) func eightProcessesMigrateOneLedger(round: Int) throws {
        try makeVersion1([("Doc.txt", "Doc.txt", 2, "s")])
        try FileManager.default.createDirectory(at: container.documents, withIntermediateDirectories: true)
        try Data("hello".utf8).write(to: container.documents.appending(path: "Doc.txt"))
        let engines = try (0..<8).map { _ in try container.engine() }
        let opened = OpenedFiles()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            do {
                opened.add(try engines[number].open("Doc.txt").value)
            } catch {
                Issue.record(error)
            }
        }
        #expect(opened.paths.count == 1)
        #expect(opened.firstOpens == 0)
        #expect(try version() == LedgerSchema.version)
    }

    @Test func aNewerLedgerIsRefusedAndLeftAsItIs() throws {
        let newer = LedgerSchema.version + 1
        try container.engine().store(prose(5000), "other")
        try makeVersion1([("Doc.txt", "Doc.txt", 2, "s")])
        let queue = try DatabaseQueue(path: ledger.path)
        try queue.write { try $0.execute(sql: "PRAGMA user_version = \(newer)") }
        try queue.close()
        let before = try Data(contentsOf: ledger)
        let engine = try container.engine()
        for key in ["Doc.txt", "other"] as [ItemKey] {
            #expect(throws: CacheError.newerLedger(version: newer)) { try engine.open(key) }
            #expect(throws: CacheError.newerLedger(version: newer)) { try engine.forget(key) }
        }
        #expect(try engine.content("other") == prose(5000))
        #expect(try engine.items().map(\.key) == ["other"])
        #expect(try engine.evict(.max) > 0)
        #expect(try Data(contentsOf: ledger) == before)
        #expect("\(CacheError.newerLedger(version: newer))".contains("update the software"))
    }
}
