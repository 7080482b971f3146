internal import FileSystem
internal import GRDB
internal import ItemFormat
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A view of the catalog, which changes nothing: one that is missing, damaged or of another version is not rebuilt for it.
/// SQLite undoes the unfinished transaction of a process that died, as it does at any use.
struct CatalogView: Sendable {
    /// The result of looking at the file.
    enum Finding: Sendable {
        case usable(CatalogView)
        case missing
        /// The catalog is rebuilt when it is next used.
        case useless(String)
    }

    private let queue: DatabaseQueue
    private let folders: CacheFolders

    /// The version of the file, whatever else it contains; `nil` when there is no readable one.
    static func version(in folders: CacheFolders) throws(CacheError) -> Int? {
        guard case .usable(let view) = try open(in: folders) else { return nil }
        do {
            return try view.queue.read { try CatalogSchema.version(of: $0) }
        } catch let error as DatabaseError where error.resultCode != .SQLITE_BUSY {
            return nil
        } catch {
            throw Catalog.wrapped(error, in: folders)
        }
    }

    /// - Throws: ``CacheError/fileSystem(_:)`` for anything that is not a file.
    private static func open(in folders: CacheFolders) throws(CacheError) -> Finding {
        let root = folders.current.root
        do {
            let path = folders.areas.caches.pushing(CacheLayout.root)
            let isMissing = try root.requireDatabasePlace(CacheLayout.catalog, at: path) == nil
            if isMissing { return .missing }
            var configuration = Configuration()
            configuration.label = "PrefetchCache.catalog.view"
            configuration.busyMode = folders.patience.busyMode([FilePath(CacheLayout.catalog)], in: root)
            configuration.prepareDatabase { database in
                try CatalogFile.requireRollbackJournal(database)
                try CatalogFile.undoUnfinished(database)
            }
            let queue = try DatabaseQueue(
                path: root.databasePath(CacheLayout.catalog, at: path), configuration: configuration)
            return .usable(CatalogView(queue: queue, folders: folders))
        } catch let error as CatalogFile.Useless {
            return .useless(error.description)
        } catch let error as FileSystemError where error.isOfSecondName {
            return .useless("it has a second name")
        } catch {
            try onFiles { () throws(FileSystemError) in
                try root.requireWritableVolume(after: error, FilePath(CacheLayout.catalog))
            }
            guard Catalog.isFaultOfTheFile(error) else { throw Catalog.wrapped(error, in: folders) }
            return .useless("\(error)")
        }
    }

    /// What a row says of one file.
    struct Known: Sendable, Hashable {
        let key: String
        /// Stored bytes: the length of the file.
        let storedLength: Int64
    }

    /// - Parameter isThorough: Whether to check every page, and every index against its table, which takes seconds for
    ///   10⁶ items.
    static func look(in folders: CacheFolders, isThorough: Bool = false) throws(CacheError) -> Finding {
        let found = try open(in: folders)
        guard case .usable(let view) = found else { return found }
        do {
            let problem = try view.queue.read { database -> String? in
                let version = try CatalogSchema.version(of: database)
                guard version == CatalogSchema.version else { return "it has version \(version)" }
                guard isThorough else { return nil }
                let check = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") ?? "no answer"
                return check == "ok" ? nil : check
            }
            return problem.map(Finding.useless) ?? found
        } catch {
            // One that is busy, or that cannot be read for want of descriptors, is as good as before.
            guard Catalog.isFaultOfTheFile(error) else { throw Catalog.wrapped(error, in: folders) }
            return .useless("\(error)")
        }
    }

    /// What is known of the items whose hashes are in a range.
    func items(_ range: ClosedRange<KeyHash>) throws(CacheError) -> [KeyHash: Known] {
        try read { database in
            var known: [KeyHash: Known] = [:]
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    // The plus keeps SQLite from the index on the kind, by which it would go through almost all rows.
                    sql: """
                        SELECT hash, key, storedLength FROM item
                        WHERE +kind BETWEEN -1 AND 0 AND hash BETWEEN ? AND ?
                        """),
                arguments: [range.lowerBound.data, range.upperBound.data])
            while let row = try rows.next() {
                guard let hash = KeyHash(data: try row.value(0)) else { continue }
                known[hash] = Known(key: try row.value(1), storedLength: try row.value(2))
            }
            return known
        }
    }

    /// The quarantined items and kept partials that are known, by the hashes of their rows.
    func filesBesidesItems() throws(CacheError) -> [KeyHash: CatalogRow.Kind] {
        try read { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT hash, kind FROM item WHERE kind BETWEEN 1 AND 2")
            return try rows.reduce(into: [:]) { known, row in
                guard let hash = KeyHash(data: try row.value(0)) else { return }
                known[hash] = CatalogRow.Kind(rawValue: try row.value(1))
            }
        }
    }

    /// The number of items, and the bytes of their contents.
    func totals() throws(CacheError) -> (items: Int, contentLength: Int64) {
        try read { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT items, contentLength FROM total WHERE kind = 0")
            return (try row?.value(0) ?? 0, try row?.value(1) ?? 0)
        }
    }

    /// The result of a `body` that reads, or `nil` if the file has become unusable: the system may purge it
    /// at any moment.
    static func ifThere<Result>(_ body: () throws(CacheError) -> Result) throws(CacheError) -> Result? {
        do throws(CacheError) {
            return try body()
        } catch {
            guard case .database = error else { throw error }
            return nil
        }
    }

    func read<Result>(_ body: (Database) throws -> Result) throws(CacheError) -> Result {
        do {
            return try queue.read(body)
        } catch {
            throw Catalog.wrapped(error, in: folders)
        }
    }
}

extension KeyHash {
    /// The hashes of the items in one of the 256 folders.
    static func range(inFolder prefix: UInt8) -> ClosedRange<KeyHash> {
        KeyHash(high: UInt64(prefix) << 56, low: 0)...KeyHash(high: UInt64(prefix) << 56 | ~0 >> 8, low: .max)
    }
}
