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

    struct NotIntercepted: Error {
        let call: String
    }

    // Looked up when they are first used, which is before they are replaced.
    private static let open = original("open", as: Open.self)
    private static let pwrite = original("pwrite", as: Write.self)
    private static let pwrite64 = original("pwrite64", as: Write.self)
    private static let ftruncate = original("ftruncate", as: Truncate.self)
    private static let fcntl = original("fcntl", as: Control.self)
    private static let unlink = original("unlink", as: Unlink.self)

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
            throw NotIntercepted(call: "any")
        }
        try replace("open", by: unsafeBitCast(pointedOpen, to: sqlite3_syscall_ptr.self))
        try replace(write, by: unsafeBitCast(pointedWrite, to: sqlite3_syscall_ptr.self))
        try replace("ftruncate", by: unsafeBitCast(pointedTruncate, to: sqlite3_syscall_ptr.self))
        #if os(Linux)
            // Elsewhere a function with a variable number of arguments is called in a way of its own.
            if locks, fcntl != nil {
                try replace("fcntl", by: unsafeBitCast(pointedControl, to: sqlite3_syscall_ptr.self))
            }
        #endif
        try replace("unlink", by: unsafeBitCast(pointedUnlink, to: sqlite3_syscall_ptr.self))
    }

    private static func between<Result>(_ name: String, _ call: () -> Result) -> Result {
        Points.shared.pass("sqlite-" + name)
        defer { if hasPointsAfter.load(ordering: .relaxed) { Points.shared.pass("after") } }
        return call()
    }

    private static func original<Call>(_ name: String, as _: Call.Type) -> Call? {
        guard let vfs = sqlite3_vfs_find(nil), let call = vfs.pointee.xGetSystemCall?(vfs, name) else {
            return nil
        }
        // The table holds all calls as one type; the name tells the true one.
        return unsafeBitCast(call, to: Call.self)
    }

    private static func replace(_ name: String, by call: sqlite3_syscall_ptr) throws {
        guard let vfs = sqlite3_vfs_find(nil), vfs.pointee.xSetSystemCall?(vfs, name, call) == SQLITE_OK
        else { throw NotIntercepted(call: name) }
    }
}
