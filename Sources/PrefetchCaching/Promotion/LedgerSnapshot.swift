internal import GRDB
package import PrefetchFileSystem
internal import PrefetchItemFormat
package import PrefetchStorageAreas
package import SystemPackage

/// The ledger at one moment, read without creating files next to it: see ``LedgerImage``.
package struct LedgerSnapshot: Sendable {
    /// One promotion, complete or under way.
    package struct Entry: Sendable, Hashable {
        package let key: String
        /// The location of the file, relative to its area.
        package let location: AreaPath
        /// The policy for the file. One that was adopted is the user's, and the item's policy does not apply to it.
        package let backup: BackupPolicy
        /// Bytes of content.
        package let contentBytes: Int64
        /// When the item was opened, in milliseconds since 1970.
        package let openedAt: Int64
        package let isCommitted: Bool
        /// The file's name in the staging folder until the promotion is committed.
        package let stagedName: String
    }

    package let entries: [Entry]
    /// The version of the schema in the file.
    package let version: Int

    package var isOld: Bool { version < LedgerSchema.version }

    /// Reads the ledger in an area.
    ///
    /// - Parameters:
    ///   - support: The open root of Application Support.
    ///   - path: The path of that root.
    /// - Returns: `nil` when there is no ledger.
    /// - Throws: ``CacheError/newerLedger(version:)``, ``CacheError/fileSystem(_:)`` or
    ///   ``CacheError/database(name:message:)``.
    package init?(in support: Directory, at path: FilePath) throws(CacheError) {
        let name = FilePath(CacheLayout.ledger)
        let root = try onFiles { () throws(FileSystemError) -> Directory? in
            guard let root = try support.open(CacheLayout.root),
                try root.fileSystem.attributes(of: name, in: root.descriptor)?.kind == .regular
            else { return nil }
            return root
        }
        guard let root else { return nil }
        do {
            let queue: DatabaseQueue
            (queue, version) = try LedgerImage.open(in: root, at: path.pushing(CacheLayout.root))
            entries = try queue.read { database in
                try Row.fetchAll(database, sql: LedgerEntry.select)
                    .compactMap(LedgerEntry.init).map(Entry.init)
            }
            try queue.close()
        } catch let error as CacheError {
            throw error
        } catch let error as FileSystemError {
            throw .fileSystem(error)
        } catch {
            throw .database(name: "ledger", message: "\(error)")
        }
    }
}

extension LedgerSnapshot.Entry {
    fileprivate init(_ entry: LedgerEntry) {
        key = entry.key.string
        location = entry.fileLocation
        backup = entry.origin == .adopted ? .include : entry.backup
        contentBytes = entry.contentBytes
        openedAt = entry.openedAt
        isCommitted = entry.state == .committed
        stagedName = entry.stagedName
    }
}

extension LedgerEntry {
    fileprivate var fileLocation: AreaPath {
        let top = area == .applicationSupport ? CacheLayout.root.pushing(CacheLayout.files) : ""
        let relative = (folder.map { top.pushing($0.path) } ?? top).pushing(name.path)
        guard let location = AreaPath(area: area, relative: relative) else {
            preconditionFailure("a file name is a component, and none is '..'")
        }
        return location
    }
}
