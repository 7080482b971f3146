import Foundation
import Synchronization

@testable import PrefetchCaching
@testable import testprograms

/// Makes calls of SQLite fail, for single files: what happens to all others goes on in parallel.
enum SQLiteFaults {
    enum Call: Sendable {
        case open, write
    }

    private struct Fault: Sendable {
        let call: Call
        let path: String
        let device: UInt64
        let inode: UInt64
        let errno: CInt
        /// Which of the calls fail, and how many there were.
        let calls: Range<Int>
        var count = 0
    }

    private struct Watch: Sendable {
        let folder: String
        let note: @Sendable (String) -> Void
    }

    private typealias Open = @Sendable @convention(c) (UnsafePointer<CChar>?, CInt, CInt) -> CInt
    private typealias Write = @Sendable @convention(c) (CInt, UnsafeRawPointer?, Int, Int64) -> Int

    private static let faults = Mutex<[Fault]>([])
    private static let watches = Mutex<[Watch]>([])
    private static let writers = Mutex<[ObjectIdentifier: @Sendable () -> Void]>([:])
    private static let open = SQLiteTable.original("open", as: Open.self)
    // A build of SQLite has one of the two.
    private static let nameOfWrite =
        SQLiteTable.original("pwrite64", as: Write.self) == nil ? "pwrite" : "pwrite64"
    private static let write = SQLiteTable.original(nameOfWrite, as: Write.self)

    // Functions of C hold no context, not even the type: everything is named in full.

    private static let faultyOpen: Open = { path, flags, mode in
        let name = path.map { String(cString: $0) }
        SQLiteFaults.note(name ?? "")
        if let errno = SQLiteFaults.errno(of: .open, { $0.path == name }) { return SQLiteFaults.fail(errno) }
        return SQLiteFaults.open?(path, flags, mode) ?? -1
    }
    private static let faultyWrite: Write = { file, bytes, count, offset in
        // A byte alone makes the index of a log longer, under a lock of the process: one thread cannot be two processes there.
        if count > 1 { SQLiteFaults.noteWrite() }
        var attributes = stat()
        let inode = fstat(file, &attributes) == 0 ? UInt64(attributes.st_ino) : 0
        let device = UInt64(truncatingIfNeeded: attributes.st_dev)
        if let errno = SQLiteFaults.errno(of: .write, { $0.inode == inode && $0.device == device }) {
            return Int(SQLiteFaults.fail(errno))
        }
        return SQLiteFaults.write?(file, bytes, count, offset) ?? -1
    }

    private static let installation = Result {
        try SQLiteTable.replace("open", by: faultyOpen)
        try SQLiteTable.replace(nameOfWrite, by: faultyWrite)
    }

    /// Runs `body` while such calls on a file fail: every one, or those of the given numbers.
    ///
    /// - Returns: How many there were.
    @discardableResult
    static func failing(
        _ call: Call, of file: URL, errno: CInt, in calls: Range<Int> = 0..<Int.max, _ body: () throws -> Void
    ) throws -> Int {
        try intercept()
        var attributes = stat()
        guard stat(file.path, &attributes) == 0 else {
            throw SQLiteTable.NotIntercepted(call: file.path)
        }
        let fault = Fault(
            call: call, path: file.path, device: UInt64(truncatingIfNeeded: attributes.st_dev),
            inode: UInt64(attributes.st_ino), errno: errno, calls: calls)
        faults.withLock { $0.append(fault) }
        defer { faults.withLock { $0.removeAll { $0.path == file.path } } }
        try body()
        return faults.withLock { $0.first { $0.path == file.path }?.count ?? 0 }
    }

    /// Tells of every file below a folder, before it is opened, on the thread that opens it.
    static func watchingOpens(
        below folder: URL, _ note: @escaping @Sendable (String) -> Void, _ body: () throws -> Void
    ) throws {
        try intercept()
        watches.withLock { $0.append(Watch(folder: folder.path + "/", note: note)) }
        defer { watches.withLock { $0.removeAll { $0.folder == folder.path + "/" } } }
        try body()
    }

    /// Tells of every write that the calling thread makes within `body`, before it.
    static func watchingWrites<Result>(_ note: @escaping @Sendable () -> Void, _ body: () throws -> Result)
        throws -> Result
    {
        try intercept()
        let thread = ObjectIdentifier(Thread.current)
        writers.withLock { $0[thread] = note }
        defer { writers.withLock { $0[thread] = nil } }
        return try body()
    }

    private static func noteWrite() {
        let note = writers.withLock { $0.isEmpty ? nil : $0[ObjectIdentifier(Thread.current)] }
        note?()
    }

    private static func intercept() throws {
        // The engine replaces calls, too, and would take these away.
        DatabaseBytes.leaveTimes()
        // The originals are looked up first.
        guard open != nil, write != nil else { throw SQLiteTable.NotIntercepted(call: "any") }
        try installation.get()
    }

    private static func note(_ name: String) {
        for watch in watches.withLock({ $0 }) where name.hasPrefix(watch.folder) { watch.note(name) }
    }

    private static func errno(of call: Call, _ isMeant: (Fault) -> Bool) -> CInt? {
        faults.withLock { faults in
            guard let index = faults.firstIndex(where: { $0.call == call && isMeant($0) }) else { return nil }
            defer { faults[index].count += 1 }
            return faults[index].calls.contains(faults[index].count) ? faults[index].errno : nil
        }
    }

    private static func fail(_ code: CInt) -> CInt {
        Foundation.errno = code
        return -1
    }
}
