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
            try isReadable(in: root)
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
                    if let entry = Entry(row) { body(entry) }
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

    /// Whether the file can be read without side effects. A file with a write-ahead log is not ours, and
    /// reading it would leave files behind. The descriptor is closed before SQLite opens the file, since
    /// closing it later would release SQLite's locks.
    private static func isReadable(in root: Directory) throws(CacheError) -> Bool {
        let name = FilePath(CacheLayout.catalog)
        return try onFiles { () throws(FileSystemError) in
            let fileSystem = root.fileSystem
            guard try fileSystem.attributes(of: name, in: root.descriptor)?.kind == .regular else {
                return false
            }
            var header = [UInt8](repeating: 0, count: 20)
            let count = try fileSystem.withFile(name, in: root.descriptor, .read) {
                file throws(FileSystemError) in
                try header.withMutableBytes { buffer throws(FileSystemError) in
                    try fileSystem.readAll(file, into: buffer, at: 0)
                }
            }
            // sqlite.org/fileformat.html: 1 for a rollback journal, 2 for a write-ahead log.
            return count == header.count && header[18] == 1 && header[19] == 1
        }
    }
}

extension CatalogSnapshot.Entry {
    fileprivate init?(_ row: Row) {
        guard let hash = KeyHash(data: row[0] as Data), let intent = Intent(rawValue: row[3]) else {
            return nil
        }
        self.init(
            hash: hash, key: row[1], source: row[2], intent: intent, contentLength: row[4],
            storedLength: row[5], storedAt: row[6])
    }
}
