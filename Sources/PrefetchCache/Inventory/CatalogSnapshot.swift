package import FileSystem
internal import GRDB
package import ItemFormat
internal import StorageAreas
package import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the catalog as it lies there, for whoever looks at a cache from outside. The file is neither made nor
/// made anew, and nothing beside it is.
package struct CatalogSnapshot {
    /// What the catalog knows of one item.
    package struct Entry: Sendable, Hashable {
        package let hash: KeyHash
        package let key: String
        package let source: String
        package let intent: Intent
        package let contentLength: Int64
        /// Bytes of the item's file when the row was written.
        package let storedLength: Int64
        /// Milliseconds since 1970.
        package let storedAt: Int64
    }

    /// Calls `body` for every item.
    ///
    /// - Parameters:
    ///   - caches: The root of Caches, open, and
    ///   - path: where that is.
    /// - Returns: The version of the file; `nil` when there is none, and for one of another version than
    ///   ``currentVersion``, of which nothing is read.
    /// - Throws: ``CacheError/fileSystem(_:)`` or ``CacheError/database(name:message:)``, the latter also for a
    ///   file that was left in the middle of a change: the items say the same.
    package static func forEach(
        in caches: Directory, at path: FilePath, _ body: (Entry) -> Void
    ) throws(CacheError) -> Int? {
        guard let root = try onFiles({ () throws(FileSystemError) in try caches.open(CacheLayout.root) }),
            try onFiles({ () throws(FileSystemError) in try CatalogFile.hasRollbackJournal(in: root) })
        else { return nil }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            let file = path.pushing(CacheLayout.root).appending(CacheLayout.catalog)
            let queue = try DatabaseQueue(path: file.string, configuration: configuration)
            let version = try queue.unsafeRead { database in
                let version = try CatalogSchema.version(of: database)
                guard version == CatalogSchema.version else { return version }
                let rows = try Row.fetchCursor(
                    database,
                    sql: """
                        SELECT hash, key, source, intent, contentLength, storedLength, storedAt
                        FROM item WHERE kind = 0
                        """)
                while let row = try rows.next() {
                    if let entry = try Entry(row) { body(entry) }
                }
                return version
            }
            try queue.close()
            return version
        } catch {
            throw .database(name: "catalog", message: "\(error)")
        }
    }

    package static var currentVersion: Int { CatalogSchema.version }
}

extension CatalogSnapshot.Entry {
    fileprivate init?(_ row: Row) throws {
        guard let hash = KeyHash(data: try row.value(0)), let intent = Intent(rawValue: try row.value(3))
        else { return nil }
        self.init(
            hash: hash, key: try row.value(1), source: try row.value(2), intent: intent,
            contentLength: try row.value(4), storedLength: try row.value(5), storedAt: try row.value(6))
    }
}
