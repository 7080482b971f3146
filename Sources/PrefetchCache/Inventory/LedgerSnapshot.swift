package import FileSystem
internal import GRDB
internal import ItemFormat
package import StorageAreas
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The ledger at one moment, read without changing anything beside it.
///
/// Even a reader creates files beside a database with a write-ahead log. So the file and its log are copied,
/// while nothing commits, and the copy is read.
package struct LedgerSnapshot: Sendable {
    /// One promotion, complete or under way.
    package struct Entry: Sendable, Hashable {
        package let key: String
        /// The location of the file, relative to its area.
        package let location: AreaPath
        /// What the file is to have: one that was adopted is its user's, and the item's wish is void.
        package let backup: BackupPolicy
        /// Bytes of content.
        package let contentLength: Int64
        package let contentChecksum: UInt64
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
    /// - Parameter support: The root of Application Support.
    /// - Returns: `nil` when there is no ledger.
    /// - Throws: ``CacheError/newerLedger(version:)``, ``CacheError/fileSystem(_:)`` or
    ///   ``CacheError/database(name:message:)``.
    package init?(in support: Directory) throws(CacheError) {
        let name = FilePath(CacheLayout.ledger)
        let root = try onFiles { () throws(FileSystemError) -> Directory? in
            guard let root = try support.open(CacheLayout.root),
                try root.fileSystem.attributes(of: name, in: root.descriptor)?.kind == .regular
            else { return nil }
            return root
        }
        guard let root else { return nil }
        do {
            let copy = try TemporaryCopy()
            defer { copy.remove() }
            try Self.copy(from: root, to: copy.directory)
            let queue = try DatabaseQueue(path: copy.path.appending(CacheLayout.ledger).string)
            version = try queue.read { database in
                try LedgerSchema.refuseNewer(database)
                return try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            }
            entries = try queue.writeWithoutTransaction { database in
                try LedgerSchema.bringUpToDate(database)
                return try Row.fetchAll(database, sql: LedgerEntry.select)
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

    /// Copies the ledger and the files beside it while nothing commits, which requires the lock of the
    /// folder.
    private static func copy(from root: Directory, to copy: Directory) throws(FileSystemError) {
        let fileSystem = root.fileSystem
        let lock = try fileSystem.open(".", in: root.descriptor, .directory)
        defer { fileSystem.unlock(lock) }
        do {
            _ = try fileSystem.lock(lock, .shared, waiting: true)
        } catch {
            guard error.isUnsupported else { throw error }
        }
        for name in [CacheLayout.ledger, CacheLayout.ledgerLog, "\(CacheLayout.ledger)-journal"] {
            do {
                try fileSystem.withFile(FilePath(name), in: root.descriptor, .read) {
                    source throws(FileSystemError) in
                    try copy.fileSystem.withFile(
                        FilePath(name), in: copy.descriptor, .createNew(CacheLayout.filePermissions)
                    ) { target throws(FileSystemError) in
                        try fileSystem.forEachPiece(of: source) { piece, offset throws(FileSystemError) in
                            try copy.fileSystem.writeAll(piece, to: target, at: offset)
                        }
                    }
                }
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
    }
}

extension LedgerSnapshot.Entry {
    fileprivate init(_ entry: LedgerEntry) {
        key = entry.key.string
        location = entry.fileLocation
        backup = entry.origin == .adopted ? .include : entry.backup
        contentLength = entry.contentLength
        contentChecksum = entry.contentChecksum
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

/// A folder for copies of databases that only this process uses.
private struct TemporaryCopy {
    let path: FilePath
    let directory: Directory

    init() throws(FileSystemError) {
        let parent = FilePath(FileManager.default.temporaryDirectory.path)
        path = parent.appending("PrefetchCache-\(UUID().uuidString)")
        directory = try Directory.openOrCreate(
            path, permissions: CacheLayout.folderPermissions, in: LiveFileSystem())
    }

    func remove() {
        do {
            try FileManager.default.removeItem(atPath: path.string)
        } catch {
            // The system clears its temporary folder; the result is right all the same.
        }
    }
}
