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

/// Reads the catalog as it is, for tools that inspect a cache from outside. Neither the file nor any file
/// beside it is created or rebuilt.
package struct CatalogSnapshot {
    /// What the catalog knows of one item.
    package struct Entry: Sendable, Hashable {
        package let hash: KeyHash
        package let key: String
        package let source: String
        package let intent: Intent
        /// Bytes of content.
        package let contentLength: Int64
        /// Stored bytes: the length of the item's file when the row was written.
        package let storedLength: Int64
        /// When the item was stored, in milliseconds since 1970.
        package let storedAt: Int64
    }

    /// Calls `body` for every item.
    ///
    /// - Parameters:
    ///   - caches: The open root of Caches.
    ///   - path: The path of that root.
    /// - Returns: The version of the file, whose items are read only if it is ``currentVersion``; `nil` when
    ///   there is no file.
    /// - Throws: ``CacheError/fileSystem(_:)`` or ``CacheError/database(name:message:)``, the latter also for
    ///   a file that was left in the middle of a change. The items contain the same information.
    package static func forEach(
        in caches: Directory, at path: FilePath, _ body: (Entry) -> Void
    ) throws(CacheError) -> Int? {
        guard let root = try onFiles({ () throws(FileSystemError) in try caches.open(CacheLayout.root) }),
            try onFiles({ () throws(FileSystemError) in try CatalogFile.attributes(in: root) })?.kind
                == .regular
        else { return nil }
        do {
            let folder = path.pushing(CacheLayout.root)
            try root.requireDatabasePlace(CacheLayout.catalog, at: folder)
            defer { withExtendedLifetime(root) {} }
            let file = root.databasePath(CacheLayout.catalog, at: folder)
            let queue = try DatabaseQueue.readOnly(file, in: root, label: "PrefetchCache.catalog.snapshot")
            let version = try queue.readOnly { database in
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
        } catch is CatalogFile.Useless {
            return nil
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
