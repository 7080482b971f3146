internal import FileSystem
internal import GRDB
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The file of the catalog: opened when it is first needed, made anew when it is of no use.
extension Catalog {
    func openedFile() throws -> CatalogFile {
        try file.withLock { file in
            switch file {
            case .closed: throw CacheError.closed
            case .open(let open): if try open.isInPlace(in: folders.current.root) { return open }
            case .notYet: break
            }
            _ = try folders.repair()
            var fresh = try CatalogFile(in: folders.current.root, at: rootPath)
            let rebuilt = try fresh.transaction { database in try prepare(database) }
            fresh.generation = inMemory { $0.allowance.generation }
            file = .open(fresh)
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
                try reenter(database)
                try settleDeadWriters(database)
                return nil
            }
            // A row of a writer that lives was written since the machine was started.
            for session in try deadWriters(database) { try delete(session, from: database) }
            try database.execute(sql: "DELETE FROM item; DELETE FROM unflushed;")
        } else if version == 0, try !database.tableExists("item") {
            try CatalogSchema.create(in: database)
        } else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "version \(version)")
        }
        // Whoever died had partials that no row accounts for now. Whoever lives may be writing, without
        // looking at the catalog, what the old file had granted.
        try WriterSession.sweep(folders.current.incoming)
        for (session, bound) in try WriterSession.bounds(in: folders.current.incoming) {
            try database.execute(
                sql: "INSERT OR IGNORE INTO writer VALUES (?, ?)", arguments: [session, bound])
        }
        try reenter(database)
        return try census.fill(database, ordering: .byStoreTime)
    }

    /// Enters what this process holds, exactly.
    private func reenter(_ database: Database) throws {
        try setAllowance(inMemory { $0.allowance.reenter() }, in: database)
        lowerBound()
    }

    /// Removes the file, unless it is another one than that which was found to be of no use.
    func discard(_ useless: CatalogFile?) throws(CacheError) {
        let root = folders.current.root
        try file.withLock { file throws(CacheError) in
            if case .open(let open) = file {
                if let useless, open.identity != useless.identity { return }
                file = .notYet
            }
            try onFiles { () throws(FileSystemError) in
                if let useless, try !useless.isInPlace(in: root) { return }
                try CatalogFile.remove(in: root)
            }
        }
    }

    private var rootPath: FilePath { folders.areas.caches.pushing(CacheLayout.root) }

    /// Finds what dead writers stored without a row, and takes back what they had left.
    /// - Returns: Whether there were any.
    @discardableResult
    func settleDeadWriters(_ database: Database) throws -> Bool {
        let dead = try deadWriters(database)
        guard !dead.isEmpty else { return false }
        // Their partials were covered by what is now taken back.
        try WriterSession.sweep(folders.current.incoming)
        _ = try census.fill(database, ordering: .mostRecent)
        for session in dead { try delete(session, from: database) }
        return true
    }

    private func deadWriters(_ database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "SELECT session FROM writer").filter { session in
            try session != environment.session
                && !WriterSession.isAlive(session, in: folders.current.incoming)
        }
    }

    private func delete(_ session: String, from database: Database) throws {
        try database.execute(sql: "DELETE FROM writer WHERE session = ?", arguments: [session])
    }

    /// Gives up this process's place among the writers, and flushes the file to the device.
    func close() throws(CacheError) {
        let hasWritten = inMemory { $0.hasWritten || !$0.pending.isEmpty }
        do {
            if hasWritten { try leave() }
        } catch {
            try closeFile(flushing: false)
            guard error.isOutOfSpace else { throw error }
            // What is lost is the order of the last uses; what was stored is found by whoever looks for
            // writers that are no more.
            return environment.logger.debug("The volume is too full for the catalog.")
        }
        try closeFile(flushing: hasWritten)
    }

    private func leave() throws(CacheError) {
        try transaction { database in
            let kept = inMemory { state in
                state.allowance.settle(uncertain: state.allowance.giveUp())
                return state.allowance.reserved
            }
            // Held by a partial that could not be removed. Whoever finds the lock free removes it, and then
            // the row.
            try setAllowance(kept, in: database)
        }
    }

    private func closeFile(flushing: Bool) throws(CacheError) {
        let open: CatalogFile? = file.withLock { file in
            defer { file = .closed }
            if case .open(let open) = file { return open }
            return nil
        }
        do {
            if flushing { try open?.flushToDevice() }
            try open?.queue.close()
        } catch {
            guard Self.isOutOfSpace(error) else { throw Self.wrapped(error) }
            environment.logger.debug("The volume is too full for the catalog.")
        }
    }
}
