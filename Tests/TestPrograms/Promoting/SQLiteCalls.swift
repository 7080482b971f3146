internal import Foundation
internal import GRDBSQLite
internal import Synchronization

/// The calls by which SQLite changes files, each with a point before it. SQLite has a table of them for just
/// this purpose. `fsync` is not in it: where a flush makes a difference, which is to a power cut, there is a
/// point after each call as well.
enum SQLiteCalls {
    private typealias Open = @Sendable @convention(c) (UnsafePointer<CChar>?, CInt, CInt) -> CInt
    private typealias Write = @Sendable @convention(c) (CInt, UnsafeRawPointer?, Int, Int64) -> Int
    private typealias Truncate = @Sendable @convention(c) (CInt, Int64) -> CInt
    private typealias Control = @Sendable @convention(c) (CInt, CInt, UnsafeMutableRawPointer?) -> CInt
    private typealias Unlink = @Sendable @convention(c) (UnsafePointer<CChar>?) -> CInt

    // Looked up when they are first used, which is before they are replaced.
    private static let open = SQLiteTable.original("open", as: Open.self)
    private static let pwrite = SQLiteTable.original("pwrite", as: Write.self)
    private static let pwrite64 = SQLiteTable.original("pwrite64", as: Write.self)
    private static let ftruncate = SQLiteTable.original("ftruncate", as: Truncate.self)
    private static let fcntl = SQLiteTable.original("fcntl", as: Control.self)
    private static let unlink = SQLiteTable.original("unlink", as: Unlink.self)

    // Functions of C hold no context, not even the type: everything is named in full.

    private static let pointedOpen: Open = { path, flags, mode in
        guard flags & O_CREAT != 0 else { return SQLiteCalls.open?(path, flags, mode) ?? -1 }
        return SQLiteCalls.between("open") { SQLiteCalls.open?(path, flags, mode) ?? -1 }
    }
    private static let pointedWrite: Write = { file, bytes, count, offset in
        SQLiteCalls.between("write") {
            (SQLiteCalls.pwrite64 ?? SQLiteCalls.pwrite)?(file, bytes, count, offset) ?? -1
        }
    }
    private static let pointedTruncate: Truncate = { file, length in
        SQLiteCalls.between("resize") { SQLiteCalls.ftruncate?(file, length) ?? -1 }
    }
    private static let pointedControl: Control = { file, command, argument in
        SQLiteCalls.between("lock") { SQLiteCalls.fcntl?(file, command, argument) ?? -1 }
    }
    private static let pointedUnlink: Unlink = { path in
        SQLiteCalls.between("unlink") { SQLiteCalls.unlink?(path) ?? -1 }
    }

    private static let hasPointsAfter = Atomic<Bool>(false)

    /// - Parameter locks: Whether there is a point before each call that locks or unlocks something, too.
    static func intercept(pointsAfter: Bool, locks: Bool) throws {
        hasPointsAfter.store(pointsAfter, ordering: .relaxed)
        // A build of SQLite has one of the two.
        let write = pwrite64 == nil ? "pwrite" : "pwrite64"
        guard open != nil, pwrite ?? pwrite64 != nil, ftruncate != nil, unlink != nil else {
            throw SQLiteTable.NotIntercepted(call: "any")
        }
        try SQLiteTable.replace("open", by: pointedOpen)
        try SQLiteTable.replace(write, by: pointedWrite)
        try SQLiteTable.replace("ftruncate", by: pointedTruncate)
        #if os(Linux)
            // Elsewhere a function with a variable number of arguments is called in a way of its own.
            if locks, fcntl != nil {
                try SQLiteTable.replace("fcntl", by: pointedControl)
            }
        #endif
        try SQLiteTable.replace("unlink", by: pointedUnlink)
    }

    private static func between<Result>(_ name: String, _ call: () -> Result) -> Result {
        Points.shared.pass("sqlite-" + name)
        defer { if hasPointsAfter.load(ordering: .relaxed) { Points.shared.pass("after") } }
        return call()
    }
}

/// SQLite's table of the calls that it makes of the system.
enum SQLiteTable {
    struct NotIntercepted: Error {
        let call: String
    }

    static func original<Call>(_ name: String, as _: Call.Type) -> Call? {
        guard let vfs = sqlite3_vfs_find(nil), let call = vfs.pointee.xGetSystemCall?(vfs, name) else {
            return nil
        }
        // The table holds all calls as one type; the name tells the true one.
        return unsafeBitCast(call, to: Call.self)
    }

    /// - Parameter call: A function of C, of the type that the call has.
    static func replace<Call>(_ name: String, by call: Call) throws {
        let call = unsafeBitCast(call, to: sqlite3_syscall_ptr.self)
        guard let vfs = sqlite3_vfs_find(nil), vfs.pointee.xSetSystemCall?(vfs, name, call) == SQLITE_OK
        else { throw NotIntercepted(call: name) }
    }
}
