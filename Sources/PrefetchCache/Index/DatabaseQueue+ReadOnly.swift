internal import FileSystem
internal import GRDB
internal import SystemPackage

/// Reading through a connection that may not write.
///
/// Such a connection can mistake the journal of a transaction that has just begun for one that a dead process left,
/// which it is not allowed to undo (`SQLITE_READONLY_ROLLBACK`). At the next attempt it sees that the writer holds the
/// lock, so both opening and reading are tried again.
extension DatabaseQueue {
    private static var attempts: Int { 16 }

    /// - Parameter root: The folder of the catalog.
    static func readOnly(_ path: String, in root: Directory, label: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = label
        configuration.readonly = true
        configuration.busyMode = Patience().busyMode([FilePath(CacheLayout.catalog)], in: root)
        configuration.prepareDatabase { try CatalogFile.requireRollbackJournal($0) }
        // GRDB reads from the file when it opens it.
        return try retrying { try DatabaseQueue(path: path, configuration: configuration) }
    }

    func readOnly<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try Self.retrying { try read(body) }
    }

    private static func retrying<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 1..<attempts {
            do {
                return try body()
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
                continue
            }
        }
        return try body()
    }
}
