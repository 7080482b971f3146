internal import Foundation
internal import GRDB
package import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
package import SystemPackage

/// A read-only view of the catalog: one that is missing, damaged or of another version is not rebuilt for it. Where
/// something may be written, SQLite still rolls back the unfinished transaction of a process that died.
struct CatalogView: Sendable {
    /// The result of inspecting the file.
    enum Finding: Sendable {
        case usable(CatalogView)
        case missing
        /// The catalog is rebuilt when it is next used.
        case unusable(String)
    }

    private let queue: DatabaseQueue
    private let folders: CacheFolders

    /// What a row says about one file.
    struct Known: Sendable, Hashable {
        let kind: CatalogRow.Kind
        let key: String
        /// Stored bytes: the length of the file.
        let storedBytes: Int64
        let chargedBytes: Int64

        var itemKey: ItemKey? { ItemKey(inRow: key) }
    }

    /// - Parameter isThorough: Whether to check every page, and every index against its table, which takes seconds for
    ///   10⁶ items.
    /// - Throws: ``CacheError/fileSystem(_:)`` for anything that is not a file.
    static func look(in folders: CacheFolders, isThorough: Bool = false) throws(CacheError) -> Finding {
        let root = folders.current.root
        let path = folders.areas.caches.pushing(CacheLayout.root)
        let isReadOnly = root.isOnReadOnlyVolume
        do {
            // First, since where a folder is missing nothing may make it.
            guard try CatalogFile.identity(in: root) != nil,
                try root.requireDatabasePlace(CacheLayout.catalog, at: path) != nil
            else { return .missing }
            let queue = try CatalogFile.view(
                in: root, at: path, isReadOnly: isReadOnly, folders.patience)
            return try queue.reading { database -> Finding in
                let version = try CatalogTransaction(database).version()
                guard version == CatalogSchema.version else { return .unusable("it has version \(version)") }
                let check =
                    isThorough ? try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") : "ok"
                guard check == "ok" else { return .unusable(check ?? "no answer") }
                return .usable(CatalogView(queue: queue, folders: folders))
            }
        } catch let error as CatalogFile.Unusable {
            return .unusable(error.description)
        } catch let error as FileSystemError where error.isHardLinked {
            return .unusable("it has a second name")
        } catch {
            // Busy or out of descriptors: the file itself is fine.
            guard CatalogFile.isFaultOfTheFile(error) else { throw CatalogFile.wrapped(error, in: folders) }
            return .unusable("\(error)")
        }
    }

    /// The result of `body`, or `nil` if the file has become unusable: the system may purge it at any moment.
    static func ifThere<Result>(_ body: () throws(CacheError) -> Result) throws(CacheError) -> Result? {
        do throws(CacheError) {
            return try body()
        } catch {
            guard case .database = error else { throw error }
            return nil
        }
    }

    func read<Result>(_ body: (CatalogTransaction) throws -> Result) throws(CacheError) -> Result {
        do {
            return try queue.reading { try body(CatalogTransaction($0)) }
        } catch {
            throw CatalogFile.wrapped(error, in: folders)
        }
    }
}

extension KeyHash {
    /// The hashes of the items in one of the 256 folders.
    static func range(inFolder prefix: UInt8) -> ClosedRange<KeyHash> {
        KeyHash(high: UInt64(prefix) << 56, low: 0)...KeyHash(high: UInt64(prefix) << 56 | ~0 >> 8, low: .max)
    }
}

/// Listings and statistics.
extension CatalogTransaction {
    /// All items in the order of priority and, within one priority, of use.
    func items() throws -> [CachedItem] {
        var items: [CachedItem] = []
        let rows = try Row.fetchCursor(
            database, sql: CachedItem.select + " WHERE kind = 0 ORDER BY priority, lastUse")
        // Row by row: an array of rows would take as much memory again.
        while let row = try rows.next() {
            if let item = CachedItem(row) { items.append(item) }
        }
        return items
    }

    func item(_ key: ItemKey) throws -> CachedItem? {
        try Row.fetchAll(
            database, sql: CachedItem.select + " WHERE kind = 0 AND hash = ?", arguments: [key.hash.data]
        ).lazy.compactMap(CachedItem.init).first { $0.key == key }
    }

    func partials() throws -> [PartialItem] {
        try Row.fetchAll(
            database,
            sql: CachedItem.select
                + " WHERE kind = \(CatalogRow.Kind.partial.rawValue) ORDER BY priority, lastUse"
        ).compactMap(PartialItem.init)
    }

    /// The space that the items of each source take, ordered by charged bytes, largest first.
    func sources() throws -> [SourceUsage] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT source, COUNT(*), SUM(contentLength), SUM(storedLength), SUM(chargedLength) AS charged
                FROM item WHERE +kind = 0 GROUP BY source ORDER BY charged DESC, source
                """
        ).map { row in
            SourceUsage(
                source: try row.value(0), items: try row.value(1), contentBytes: try row.value(2),
                storedBytes: try row.value(3), chargedBytes: try row.value(4))
        }
    }

    func statistics() throws -> CacheStatistics {
        var statistics = CacheStatistics()
        for row in try Row.fetchAll(
            database, sql: "SELECT kind, items, contentLength, storedLength, chargedLength FROM total")
        {
            statistics.chargedBytes += try row.value(4)
            switch CatalogRow.Kind(rawValue: try row.value(0)) {
            case .item:
                statistics.items = try row.value(1)
                statistics.contentBytes = try row.value(2)
                statistics.storedBytes = try row.value(3)
            case .quarantined: statistics.quarantinedItems = try row.value(1)
            case .partial:
                statistics.partials = try row.value(1)
                statistics.partialBytes = try row.value(4)
            default: break
            }
        }
        return statistics
    }

    /// What is known about the items whose hashes are in a range.
    func knownItems(_ range: ClosedRange<KeyHash>) throws -> [KeyHash: CatalogView.Known] {
        // The plus keeps SQLite from using the index on the kind, which would scan almost all rows.
        try known(
            "+kind BETWEEN -1 AND 0 AND hash BETWEEN ? AND ?", [range.lowerBound.data, range.upperBound.data])
    }

    /// What is known about the quarantined items and kept partials, by the hashes of their rows.
    func knownBesidesItems() throws -> [KeyHash: CatalogView.Known] {
        try known("kind IN (-2, 1, 2)", [])
    }

    private func known(_ condition: String, _ arguments: StatementArguments) throws
        -> [KeyHash: CatalogView.Known]
    {
        var known: [KeyHash: CatalogView.Known] = [:]
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: "SELECT hash, kind, key, storedLength, chargedLength FROM item WHERE \(condition)"),
            arguments: arguments)
        while let row = try rows.next() {
            guard let hash = KeyHash(data: try row.value(0)),
                let kind = CatalogRow.Kind(rawValue: try row.value(1))
            else { continue }
            known[hash] = CatalogView.Known(
                kind: kind, key: try row.value(2), storedBytes: try row.value(3),
                chargedBytes: try row.value(4))
        }
        return known
    }
}

extension CachedItem {
    fileprivate static let select = """
        SELECT key, source, intent, area, name, backup, encoding, contentLength, storedLength,
            chargedLength, priority, storedAt, expiresAt, lastUse, folder
        FROM item
        """

    /// - Returns: `nil` for an invalid row. The item itself is authoritative, so such a row counts as missing.
    fileprivate init?(_ row: Row) {
        do {
            let key = try ItemKey(try row.value(0))
            guard let intent = Intent(rawValue: try row.value(2)),
                let area = Area(rawValue: try row.value(3)),
                let backup = BackupPolicy(rawValue: try row.value(5)),
                let encoding = ItemEncoding(rawValue: try row.value(6))
            else { return nil }
            let name: String = try row.value(4)
            let folder = try FolderPath?(stored: try row.value(14))
            let destination =
                try name.isEmpty
                ? nil : Destination(area: area, name: FileName(name), in: folder, backup: backup)
            guard destination != nil || (name.isEmpty && folder == nil) else { return nil }
            self.init(
                key: key, source: try row.value(1), intent: intent, destination: destination,
                encoding: encoding,
                contentBytes: try row.value(7), storedBytes: try row.value(8),
                chargedBytes: try row.value(9),
                priority: Float(try row.value(10, as: Double.self)), storedAt: try row.value(11),
                expiresAt: try row.value(12),
                lastUse: try row.value(13))
        } catch {
            return nil
        }
    }
}

extension PartialItem {
    /// - Returns: `nil` for a row that this code could not have written.
    fileprivate init?(_ row: Row) {
        // The columns of a partial mean the same as those of an item.
        guard let row = CachedItem(row) else { return nil }
        self.init(
            key: row.key, source: row.source, intent: row.intent, destination: row.destination,
            contentBytes: row.contentBytes, storedBytes: row.storedBytes, chargedBytes: row.chargedBytes,
            keptAt: row.storedAt, expiresAt: row.expiresAt ?? .max)
    }
}

/// Reads the catalog as it is, for tools that inspect a cache from outside. Neither the file nor its side files are
/// created or rebuilt.
package struct CatalogSnapshot {
    /// Calls `body` for every item.
    ///
    /// - Parameters:
    ///   - caches: The open root of Caches.
    ///   - path: The path of that root.
    /// - Returns: The version of the file, whose items are read only if it is ``currentVersion``; `nil` when
    ///   there is no file.
    /// - Throws: ``CacheError/fileSystem(_:)`` or ``CacheError/database(name:message:)``, the latter also for a file
    ///   that was left in the middle of a change. The same information can be read from the items.
    package static func forEach(
        in caches: Directory, at path: FilePath, _ body: (CachedItem) -> Void
    ) throws(CacheError) -> Int? {
        guard let root = try onFiles(caches.open(CacheLayout.root)),
            try onFiles(CatalogFile.attributes(in: root))?.kind
                == .regular
        else { return nil }
        DatabaseBytes.leaveTimes()
        do {
            let folder = path.pushing(CacheLayout.root)
            try root.requireDatabasePlace(CacheLayout.catalog, at: folder)
            defer { withExtendedLifetime(root) {} }
            let queue = try CatalogFile.view(in: root, at: folder, isReadOnly: true, Patience())
            let version = try queue.reading { database in
                let version = try CatalogTransaction(database).version()
                guard version == CatalogSchema.version else { return version }
                let rows = try Row.fetchCursor(database, sql: CachedItem.select + " WHERE kind = 0")
                while let row = try rows.next() {
                    if let item = CachedItem(row) { body(item) }
                }
                return version
            }
            try queue.close()
            return version
        } catch is CatalogFile.Unusable {
            return nil
        } catch {
            throw CacheError(error, ofDatabase: "catalog")
        }
    }

    package static var currentVersion: Int { CatalogSchema.version }
}
