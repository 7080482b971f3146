import Foundation
import GRDB
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Closing any descriptor of a file releases all locks of the process on it, those of SQLite included.
@Suite struct DatabaseLockTests {
    private let container = TemporaryContainer.make()

    private func folder(_ url: URL) throws -> Directory {
        try Directory.openOrCreate(
            FilePath(url.path), permissions: .ownerReadWriteExecute, in: LiveFileSystem())
    }

    #if os(Linux)
        /// The locks of this process on a file, as the kernel lists them by descriptor. `/proc/locks` is not complete
        /// while other processes lock and unlock.
        private func locks(on file: URL) throws -> [String] {
            let attributes = try file.attributes
            let inode = try #require(attributes).identity.inode
            var found: [String] = []
            for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo") {
                // Other tests close theirs.
                let list = FileManager.default.contents(atPath: "/proc/self/fdinfo/\(descriptor)") ?? Data()
                for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
                    // lock: 1: POSIX ADVISORY WRITE 4711 fe:00:16236733 1073741826 1073742335
                    let words = line.split(whereSeparator: \.isWhitespace)
                    guard words.count == 9, words[2] == "POSIX", words[6].hasSuffix(":\(inode)") else {
                        continue
                    }
                    found.append(words[4...].joined(separator: " "))
                }
            }
            return found.sorted()
        }

        @Test func lookingAtTheCatalogLeavesATransactionItsLocks() throws {
            let engine = try container.engine()
            for number in 0..<8 { try engine.store(noise(1000), ItemKey(number: number)) }
            let caches = try folder(container.caches.deletingLastPathComponent())
            try engine.catalog.transaction { _ in
                let before = try locks(on: container.catalog)
                #expect(before.contains { $0.hasPrefix("WRITE") })
                guard case .usable = try CatalogView.look(in: engine.folders, isThorough: true) else {
                    Issue.record("not usable")
                    return
                }
                #expect(try locks(on: container.catalog) == before)
                _ = try CatalogSnapshot.forEach(
                    in: caches, at: FilePath(container.caches.deletingLastPathComponent().path)
                ) { _ in }
                #expect(try locks(on: container.catalog) == before)
            }
            try engine.close()
        }

        @Test func aSnapshotOfTheLedgerLeavesItsReadersTheirLocks() throws {
            let engine = try container.engine()
            try engine.store(noise(1000), "k")
            _ = try engine.open("k")
            let ledger = container.record
            let files = [ledger, container.support.appending(path: "record.sqlite-shm")]
            let reader = try DatabaseQueue(path: ledger.path)
            try reader.read { database in
                #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM promotion") == 1)
                let before = try files.map { try locks(on: $0) }
                #expect(before.allSatisfy { !$0.isEmpty })
                let support = try folder(container.support.deletingLastPathComponent())
                #expect(
                    try LedgerSnapshot(
                        in: support, at: FilePath(container.support.deletingLastPathComponent().path))?
                        .entries.map(\.key) == ["k"])
                #expect(try files.map { try locks(on: $0) } == before)
            }
            try reader.close()
            try engine.close()
        }
    #endif

    /// A look cannot roll back a transaction whose writer has died, nor tell it at once from one that has just begun.
    @Test(arguments: [true, false])
    func aJournalThatAppearsUnderALookIsNoFault(ofALivingWriter isLiving: Bool) throws {
        let engine = try container.engine()
        for number in 0..<8 { try engine.store(noise(1000), ItemKey(number: number)) }
        _ = try engine.statistics()
        let journal = container.caches.appending(path: "catalog.sqlite-journal")
        var unfinished = Data()
        try engine.catalog.transaction { transaction in
            _ = try transaction.database.execute(sql: "UPDATE item SET priority = priority")
            unfinished = try Data(contentsOf: journal)
        }
        let finished = try Data(contentsOf: journal)
        try #require(unfinished.first == 0xd9 && finished.first == 0)

        let looking = try Engine(
            areas: container.areas(), environment: engine.environment.looking(), isRecovering: false)
        var looks = 0
        let found = try looking.catalog.reading { transaction in
            looks += 1
            if looks == 1 {
                try unfinished.write(to: journal)
            } else if isLiving {
                try finished.write(to: journal)
            }
            return try transaction.items().count
        }
        #expect(found == 8 && looks == (isLiving ? 2 : 17))
        #expect(try looking.statistics().items == 8)
        try engine.close()
    }

    /// What eight items of another process look like that were stored beside a transaction without its lock.
    @Test func anIndexThatLacksRowsIsFoundAndTheCatalogMadeAnew() throws {
        let engine = try container.engine(isRecovering: true)
        for number in 0..<8 { try engine.store(noise(1000), ItemKey(number: number)) }
        try engine.close()
        try loseTheIndex("victim")

        let second = try container.engine(now: { Int64(Date().timeIntervalSince1970 * 1000) + 60_000 })
        for isDryRun in [true, false] {
            let report = try second.repair(isDryRun: isDryRun)
            #expect(report.failures.isEmpty)
            #expect(report.steps.map(\.action) == [.catalogRebuilt])
        }
        #expect(try second.repair(isDryRun: true).steps.isEmpty)
        #expect(try second.items().count == 8)
        try second.close()
    }

    /// Takes all rows out of an index, as pages of an older state do that overwrite newer ones.
    private func loseTheIndex(_ name: String) throws {
        let queue = try DatabaseQueue(path: container.catalog.path)
        try queue.writeWithoutTransaction { database in
            let definition = try #require(
                try String.fetchOne(
                    database, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [name]))
            try database.execute(sql: "PRAGMA writable_schema = ON")
            try database.execute(
                sql: "UPDATE sqlite_master SET sql = ? WHERE name = ?",
                arguments: [
                    definition + " WHERE kind = 99", name,
                ])
            try database.execute(sql: "PRAGMA schema_version = 1000")
        }
        try queue.close()
        let again = try DatabaseQueue(path: container.catalog.path)
        try again.writeWithoutTransaction { database in
            try database.execute(sql: "REINDEX \(name)")
            try database.execute(sql: "PRAGMA writable_schema = ON")
            try database.execute(
                sql: "UPDATE sqlite_master SET sql = replace(sql, ' WHERE kind = 99', '') WHERE name = ?",
                arguments: [name])
            try database.execute(sql: "PRAGMA schema_version = 1001")
        }
        try again.close()
    }
}
