import Foundation
import GRDBSQLite

/// A database of SQLite, its statements, and the buffer that items are read into.
final class SQLiteItems: ItemDatabase {
    static let name = "SQLite"
    static let setup = """
        \(String(cString: sqlite3_libversion())), blobs by key, uncompressed; WAL, synchronous=NORMAL, 8 KiB pages, \
        memory-mapped reads, prepared statements; a transaction per item, one for all when evicting, \
        which leaves the file as long as it is
        """

    private var database: OpaquePointer?
    private var insertion: OpaquePointer?
    private var query: OpaquePointer?
    private var deletion: OpaquePointer?
    let promoted: PromotedFiles
    private let contents: [[UInt8]]
    private let keys: [[CChar]]
    private let buffer: UnsafeMutableRawBufferPointer

    init(in directory: URL, for workload: Workload) throws {
        promoted = try PromotedFiles(in: directory, for: workload)
        contents = workload.contents
        keys = contents.indices.map { Array(Workload.key($0).utf8CString) }
        buffer = .allocate(byteCount: workload.size, alignment: 64)
        let path = directory.appending(path: "items.sqlite").path(percentEncoded: false)
        try check(
            sqlite3_open_v2(
                path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil))
        for statement in [
            "PRAGMA page_size = 8192", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
            "PRAGMA mmap_size = 1073741824",
            "CREATE TABLE items (key TEXT PRIMARY KEY NOT NULL, content BLOB NOT NULL)",
        ] {
            try execute(statement)
        }
        insertion = try prepare("INSERT INTO items VALUES (?, ?)")
        query = try prepare("SELECT content FROM items WHERE key = ?")
        deletion = try prepare("DELETE FROM items WHERE key = ?")
    }

    deinit {
        for statement in [insertion, query, deletion] { sqlite3_finalize(statement) }
        sqlite3_close(database)
        buffer.deallocate()
    }

    func put(_ index: Int) throws {
        try keys[index].withUnsafeBufferPointer { key in
            try contents[index].withUnsafeBytes { content in
                try bind(key, to: insertion)
                try check(sqlite3_bind_blob(insertion, 2, content.baseAddress, CInt(content.count), nil))
                try finish(insertion)
            }
        }
    }

    func withContent<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result
    {
        let length = try keys[index].withUnsafeBufferPointer { key in
            try bind(key, to: query)
            defer { sqlite3_reset(query) }
            guard sqlite3_step(query) == SQLITE_ROW, let blob = sqlite3_column_blob(query, 0) else {
                throw ContenderError.missing
            }
            let length = Int(sqlite3_column_bytes(query, 0))
            buffer.copyMemory(from: UnsafeRawBufferPointer(start: blob, count: length))
            return length
        }
        return try body(UnsafeRawBufferPointer(rebasing: buffer[..<length]))
    }

    private func delete(_ index: Int) throws {
        try keys[index].withUnsafeBufferPointer { key in
            try bind(key, to: deletion)
            try finish(deletion)
        }
    }

    func delete(_ items: Range<Int>) throws {
        if items.count == 1 { return try delete(items.lowerBound) }
        try execute("BEGIN IMMEDIATE")
        for index in items { try delete(index) }
        try execute("COMMIT")
    }

    /// The key is not copied: it has to outlive the statement's step.
    private func bind(_ key: UnsafeBufferPointer<CChar>, to statement: OpaquePointer?) throws {
        try check(sqlite3_bind_text(statement, 1, key.baseAddress, CInt(key.count - 1), nil))
    }

    private func finish(_ statement: OpaquePointer?) throws {
        sqlite3_step(statement)
        // Says what the step came to, too.
        try check(sqlite3_reset(statement))
    }

    private func prepare(_ text: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        try check(
            sqlite3_prepare_v3(database, text, -1, CUnsignedInt(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        return statement
    }

    private func execute(_ text: String) throws {
        try check(sqlite3_exec(database, text, nil, nil, nil))
    }

    private func check(_ code: CInt) throws {
        guard code == SQLITE_OK else {
            throw ContenderError(String(cString: sqlite3_errmsg(database)))
        }
    }
}
