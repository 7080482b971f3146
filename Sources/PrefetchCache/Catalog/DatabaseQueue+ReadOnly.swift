internal import GRDB

extension DatabaseQueue {
    /// Reads through a connection that may not write.
    ///
    /// Such a connection can mistake the journal of a transaction that has just begun for one that a dead process left,
    /// which it is not allowed to undo (`SQLITE_READONLY_ROLLBACK`). At the next attempt it sees that the writer holds
    /// the lock.
    func readOnly<Result>(_ body: (Database) throws -> Result) throws -> Result {
        for _ in 1..<Self.attempts {
            do {
                return try unsafeRead(body)
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
                continue
            }
        }
        return try unsafeRead(body)
    }

    private static var attempts: Int { 16 }
}
