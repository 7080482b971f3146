internal import FileSystem
internal import GRDB
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The file of the catalog: opened when it is first needed, made anew when it is of no use.
extension Catalog {
    func openedFile() throws -> CatalogFile {
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
                try setAllowance(inMemory { $0.allowance.reenter() }, in: database)
                try settleDeadWriters(database)
                return nil
            }
            try database.execute(sql: "DELETE FROM item; DELETE FROM writer; DELETE FROM unflushed;")
        } else if version == 0, try !database.tableExists("item") {
            try CatalogSchema.create(in: database)
        } else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "version \(version)")
        }
        try setAllowance(inMemory { $0.allowance.reenter() }, in: database)
        return try census.fill(database, ordering: .byStoreTime)
    }

    func discard() throws(CacheError) {
        file.withLock { $0 = nil }
        let root = folders.current.root
        try onFiles { () throws(FileSystemError) in try CatalogFile.remove(in: root) }
    }

    private var rootPath: FilePath { folders.areas.caches.pushing(CacheLayout.root) }

    /// Finds what dead writers stored without a row, and takes back what they had left.
    /// - Returns: Whether there were any.
    @discardableResult
    func settleDeadWriters(_ database: Database) throws -> Bool {
        let sessions = try String.fetchAll(database, sql: "SELECT session FROM writer")
        let dead = try sessions.filter { session in
            try session != environment.session
                && !WriterSession.isAlive(session, in: folders.current.incoming)
        }
        guard !dead.isEmpty else { return false }
        // Their partials were covered by what is now taken back.
        try WriterSession.sweep(folders.current.incoming)
        _ = try census.fill(database, ordering: .mostRecent)
        for session in dead {
            try database.execute(sql: "DELETE FROM writer WHERE session = ?", arguments: [session])
        }
        return true
    }

    /// Gives up this process's place among the writers, and flushes the file to the device.
    func close() throws(CacheError) {
        guard inMemory({ $0.hasWritten || !$0.pending.isEmpty }) else { return }
        do {
            try transaction { database in
                try database.execute(
                    sql: "DELETE FROM writer WHERE session = ?", arguments: [environment.session])
            }
            try closeFile()
        } catch {
            guard error.isOutOfSpace else { throw error }
            // What is lost is the order of the last uses; what was stored is found by whoever looks for
            // writers that are no more.
            environment.logger.debug("The volume is too full for the catalog.")
        }
    }

    private func closeFile() throws(CacheError) {
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
}
