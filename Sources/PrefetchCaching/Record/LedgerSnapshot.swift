internal import GRDB
package import PrefetchFileSystem
package import SystemPackage

/// The ledger at one moment, read without creating files next to it: see ``RecordImage``.
package struct LedgerSnapshot: Sendable {
    /// All promotions, complete or under way.
    package let entries: [LedgerEntry]

    /// Reads the ledger in an area.
    ///
    /// - Parameters:
    ///   - support: The open root of Application Support.
    ///   - path: The path of that root.
    /// - Returns: `nil` when there is no ledger.
    /// - Throws: ``CacheError/newerLedger(version:)``, ``CacheError/fileSystem(_:)`` or
    ///   ``CacheError/database(name:message:)``.
    package init?(in support: Directory, at path: FilePath) throws(CacheError) {
        guard let root = try onFiles({ () throws(FileSystemError) in try support.open(CacheLayout.root) })
        else { return nil }
        let isThere = try Self.isThere(CacheLayout.record, in: root)
        if !isThere, try !Self.isThere(EarlierRecord.ledger, in: root) { return nil }
        do {
            let queue = try RecordImage.open(in: root, at: path.pushing(CacheLayout.root))
            entries = try queue.read { database in
                try Row.fetchAll(database, sql: LedgerEntry.select).compactMap(LedgerEntry.init)
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

    private static func isThere(_ name: String, in root: Directory) throws(CacheError) -> Bool {
        try onFiles(root.fileSystem.attributes(of: FilePath(name), in: root.descriptor))?.kind == .regular
    }
}
