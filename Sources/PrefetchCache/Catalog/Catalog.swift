internal import FileSystem
internal import GRDB
internal import ItemFormat
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The accelerator: what lies in the cache, in the order of use, in SQLite.
///
/// Stores and touches are collected in memory and written in batches. The file is opened when it is
/// first needed, so that the first read after launch waits for nothing, and it is made anew from
/// the items when it is missing, damaged, replaced behind our back, of another version, or when the
/// machine went down while it was in use. Losing it costs recency, nothing else.
final class Catalog: Sendable {
    private let folders: CacheFolders
    private let environment: CacheEnvironment
    private let census: ItemCensus
    private let evictor: Evictor
    private let report: @Sendable (CacheEvent) -> Void
    private let file = Mutex<CatalogFile?>(nil)
    private let state = Mutex(State())

    /// What the catalog does not know yet.
    struct State: Sendable {
        var pending = PendingChanges()
        var allowance = Allowance()
    }

    init(
        folders: CacheFolders, environment: CacheEnvironment, census: ItemCensus, evictor: Evictor,
        report: @escaping @Sendable (CacheEvent) -> Void
    ) {
        self.folders = folders
        self.environment = environment
        self.census = census
        self.evictor = evictor
        self.report = report
    }

    /// Reads or changes what is kept in memory.
    func inMemory<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    // MARK: Transactions

    /// Writes what is pending, and then runs `body`, in one transaction that no other process can
    /// interleave with.
    ///
    /// - Throws: ``CacheError/database(name:message:)`` when the catalog could not be used even
    ///   after it was made anew. What was pending stays so.
    func transaction<Result>(_ body: (Database) throws -> Result) throws(CacheError) -> Result {
        let batch = inMemory { state in
            defer { state.pending = PendingChanges() }
            return state.pending
        }
        do {
            let result = try run { database in
                try write(batch, to: database)
                return try body(database)
            }
            inMemory { $0.allowance.settle(batch.storedBytes) }
            return result
        } catch {
            inMemory { $0.pending.restore(batch) }
            throw error
        }
    }

    /// Runs `body` in a transaction; when the file fails, once more on a fresh one.
    private func run<Result>(_ body: (Database) throws -> Result) throws(CacheError) -> Result {
        var isFresh = false
        var hasFreed = false
        while true {
            do {
                return try openedFile().transaction(body)
            } catch let error as CacheError {
                throw error
            } catch {
                if !hasFreed, Self.isOutOfSpace(error), try freeSpace() {
                    hasFreed = true
                } else if !isFresh, Self.isFaultOfTheFile(error) {
                    environment.logger.warning(
                        "The catalog failed and is made anew.", metadata: ["error": "\(error)"])
                    try discard()
                    isFresh = true
                } else {
                    throw Self.wrapped(error)
                }
            }
        }
    }

    /// Removes the coldest items without a transaction, for which a full volume has no room.
    /// - Returns: Whether something is gone.
    private func freeSpace() throws(CacheError) -> Bool {
        do {
            let freed = try openedFile().queue.read { try evictor.unlinkColdest(from: $0) }
            inMemory { state in
                state.pending.count(.evictions, by: Int64(freed.items))
                state.pending.count(.evictedBytes, by: freed.bytes)
            }
            return freed.items > 0
        } catch {
            throw Self.wrapped(error)
        }
    }

    private static func isOutOfSpace(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_FULL
    }

    private func openedFile() throws -> CatalogFile {
        try file.withLock { file in
            if let open = file, try open.isInPlace(in: folders.current.root) { return open }
            _ = try folders.repair()
            let fresh = try CatalogFile(in: folders.current.root, at: rootPath)
            let rebuilt = try fresh.transaction { database in try prepare(database) }
            file = fresh
            if let rebuilt { report(.catalogRebuilt(items: rebuilt)) }
            return fresh
        }
    }

    /// Makes a file ready for use.
    /// - Returns: The number of items found, when the file had to be filled from them.
    private func prepare(_ database: Database) throws -> Int? {
        let version = try CatalogSchema.version(of: database)
        if version == CatalogSchema.version {
            if try CatalogFile.isTrusted(database, boot: environment.bootIdentifier) {
                try settleDeadWriters(database)
                return nil
            }
            try database.execute(sql: "DELETE FROM item; DELETE FROM writer; DELETE FROM unflushed;")
        } else if version == 0, try !database.tableExists("item") {
            try CatalogSchema.create(in: database)
        } else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "version \(version)")
        }
        // The rows of the living are gone with the old file; what this process holds is entered again.
        try changeAllowance(by: inMemory { $0.allowance.reenter() }, in: database)
        return try census.fill(database, ordering: .byStoreTime)
    }

    private func discard() throws(CacheError) {
        file.withLock { $0 = nil }
        let root = folders.current.root
        try onFiles { () throws(FileSystemError) in try CatalogFile.remove(in: root) }
    }

    private var rootPath: FilePath { folders.areas.caches.pushing(CacheLayout.root) }

    // MARK: Writing behind

    private func write(_ batch: PendingChanges, to database: Database) throws {
        try CatalogFile.markUnflushed(database, boot: environment.bootIdentifier)
        var sequence = try Self.value(of: Counter.sequence.rawValue, in: database)
        for (hash, change) in batch.ordered {
            switch change {
            case .stored(let row):
                sequence += 1
                try row.write(to: database, lastUse: sequence)
            case .touched:
                sequence += 1
                try database.cachedStatement(sql: "UPDATE item SET lastUse = ? WHERE hash = ?").execute(
                    arguments: [sequence, hash.data])
            case .removed:
                // Another process may have stored the item anew; then the row is its own to write.
                guard try !isOnDisk(hash) else { continue }
                try database.cachedStatement(sql: "DELETE FROM item WHERE hash = ?").execute(
                    arguments: [hash.data])
            }
        }
        try Self.add(batch.counters, in: database)
        try Self.setValue(of: Counter.sequence.rawValue, to: sequence, in: database)
        try changeAllowance(by: -batch.storedBytes, in: database)
    }

    private func isOnDisk(_ hash: KeyHash) throws(FileSystemError) -> Bool {
        try environment.fileSystem.attributes(
            of: CacheLayout.file(of: hash), in: folders.current.items.descriptor) != nil
    }

    static func value(of counter: String, in database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM counter WHERE name = ?"), arguments: [counter])
            ?? 0
    }

    static func setValue(of counter: String, to value: Int64, in database: Database) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO counter VALUES (?, ?)").execute(
            arguments: [counter, value])
    }

    static func add(_ counters: [String: Int64], in database: Database) throws {
        for (name, value) in counters {
            try database.cachedStatement(
                sql: """
                    INSERT INTO counter VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
                    """
            ).execute(arguments: [name, value])
        }
    }

    // MARK: Writers

    /// Changes what this process may still store without asking.
    func changeAllowance(by bytes: Int64, in database: Database) throws {
        guard bytes != 0 else { return }
        try database.cachedStatement(
            sql: """
                INSERT INTO writer VALUES (?, MAX(?, 0))
                ON CONFLICT (session) DO UPDATE SET allowance = MAX(allowance + ?, 0)
                """
        ).execute(arguments: [environment.session, bytes, bytes])
    }

    /// Finds what dead writers stored without a row, and takes back what they had left.
    private func settleDeadWriters(_ database: Database) throws {
        let sessions = try String.fetchAll(database, sql: "SELECT session FROM writer")
        let dead = try sessions.filter { session in
            try session != environment.session
                && !WriterSession.isAlive(session, in: folders.current.incoming)
        }
        guard !dead.isEmpty else { return }
        _ = try census.fill(database, ordering: .mostRecent)
        for session in dead {
            try database.execute(sql: "DELETE FROM writer WHERE session = ?", arguments: [session])
        }
    }

    /// Gives up this process's place among the writers, and flushes the file to the device.
    func close() throws(CacheError) {
        let isUnused = file.withLock { $0 == nil }
        if isUnused, inMemory({ $0.pending.isEmpty }) { return }
        try transaction { database in
            try database.execute(
                sql: "DELETE FROM writer WHERE session = ?", arguments: [environment.session])
        }
        do {
            let open = file.withLock { file in
                defer { file = nil }
                return file
            }
            try open?.flushToDevice()
            try open?.queue.close()
        } catch {
            throw Self.wrapped(error)
        }
    }

    // MARK: Errors

    /// Whether the file itself is at fault, rather than the request or the volume.
    private static func isFaultOfTheFile(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [
            .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY,
            .SQLITE_ERROR, .SQLITE_SCHEMA,
        ].contains(error.resultCode)
    }

    private static func wrapped(_ error: any Error) -> CacheError {
        switch error {
        case let error as CacheError: error
        case let error as FileSystemError: .fileSystem(error)
        default: .database(name: "catalog", message: "\(error)")
        }
    }
}
