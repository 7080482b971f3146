internal import Foundation
internal import GRDB
internal import PrefetchItemFormat
internal import PrefetchStorageAreas

/// The table of promotions in the ``Record``: which key was promoted, to which file.
struct Ledger: PromotionLedger {
    let record: Record

    var database: Record? { record }

    func entry(for hash: KeyHash) throws(CacheError) -> LedgerEntry? {
        try record.read { database in try LedgerEntry.fetch(hash, from: database) } ?? nil
    }

    func unfinished() throws(CacheError) -> [LedgerEntry] {
        try record.read { database in
            try Row.fetchAll(
                database,
                sql: LedgerEntry.select + " WHERE state = ? OR successor IS NOT NULL ORDER BY openedAt",
                arguments: [LedgerEntry.State.intent.rawValue]
            ).compactMap(LedgerEntry.init)
        } ?? []
    }

    func hashes() throws(CacheError) -> Set<KeyHash> {
        try record.read { database in
            try Set(Data.fetchAll(database, sql: "SELECT hash FROM promotion").compactMap(KeyHash.init))
        } ?? []
    }

    func committed(after hash: KeyHash?, atMost limit: Int) throws(CacheError) -> [LedgerEntry] {
        try record.read { database in
            var entries: [LedgerEntry] = []
            var last = hash?.data ?? Data()
            // An invalid row is skipped, and must not end the iteration.
            while entries.isEmpty {
                let rows = try Row.fetchAll(
                    database,
                    sql: LedgerEntry.select + " WHERE state = ? AND hash > ? ORDER BY hash LIMIT ?",
                    arguments: [LedgerEntry.State.committed.rawValue, last, limit])
                guard let next = try rows.last?.value(0, as: Data.self) else { break }
                entries = rows.compactMap(LedgerEntry.init)
                last = next
            }
            return entries
        } ?? []
    }

    func others(sharing entry: LedgerEntry) throws(CacheError) -> [LedgerEntry] {
        try record.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: LedgerEntry.select
                        + " WHERE hash <> ?"
                        + " AND (contentChecksum = ? AND contentLength = ?"
                        + " OR name = ? COLLATE NOCASE AND folder = ? COLLATE NOCASE AND area = ?"
                        + " OR \(LedgerEntry.enclosure))"),
                arguments: [
                    entry.key.hash.data, Int64(bitPattern: entry.contentChecksum), entry.contentBytes,
                    entry.name.string, entry.folder?.string ?? "", Int(entry.area.rawValue),
                    Int(entry.area.rawValue), (entry.folder?.string ?? "") + "/",
                ]
            ).compactMap(LedgerEntry.init)
        } ?? []
    }

    func isPlaceOfAnother(_ entry: LedgerEntry) throws(CacheError) -> Bool {
        try record.read { database in
            let found = try Int.fetchOne(
                database.cachedStatement(sql: LedgerEntry.placeOfAnother),
                arguments: StatementArguments(entry.place))
            return found != nil
        } ?? false
    }

    func make(_ changes: [LedgerChange], flushing: Bool) throws(CacheError) -> Set<KeyHash> {
        var displaced: Set<KeyHash> = []
        try record.write(creating: changes.contains { $0.new != nil }) { database, log in
            try log.lengthen()
            try log.setFlushing(flushing, in: database)
            if let change = changes.first, changes.count == 1 {
                // A single statement is its own transaction.
                try Self.make(change, in: database, &displaced)
            } else {
                try database.inTransaction(.immediate) {
                    for change in changes { try Self.make(change, in: database, &displaced) }
                    return .commit
                }
            }
            log.noteWritten(in: database)
        }
        return displaced
    }

    private static func make(
        _ change: LedgerChange, in database: Database, _ displaced: inout Set<KeyHash>
    ) throws {
        guard let key = (change.new ?? change.old)?.key else { return }
        guard let isAnothers = try change.make(in: database) else { throw CacheError.overtaken(key) }
        if isAnothers { displaced.insert(key.hash) }
    }

}
