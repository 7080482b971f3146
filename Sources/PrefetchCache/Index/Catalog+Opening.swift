internal import FileSystem
internal import GRDB
internal import Logging
internal import Synchronization
internal import SystemPackage
internal import VolumeCapacity

/// The file of the catalog: opened when it is first needed, rebuilt when it is unusable.
extension Catalog {
    func openedFile(isReading: Bool = false) throws -> CatalogFile {
        var identity: FileAttributes.Identity?
        return try openedFile(&identity, isReading: isReading)
    }

    /// - Parameters:
    ///   - identity: Receives the identity of the file, even if it turns out to be unusable.
    ///   - isReading: Whether a file will do into which this process cannot be entered, because the volume is full or
    ///     takes no writes.
    func openedFile(_ identity: inout FileAttributes.Identity?, isReading: Bool) throws -> CatalogFile {
        try file.withLock { file in
            switch file {
            case .closed: throw CacheError.closed
            case .open(let open):
                identity = open.identity
                if try isCurrent(open) && open.isInPlace(in: folders.current.root) { return open }
            case .notYet: break
            }
            _ = try folders.repair()
            let root = folders.current.root
            let hadJournal = try CatalogFile.hasJournal(in: root)
            identity = try clearedPlace(in: root)
            var fresh = try CatalogFile(in: root, at: rootPath, hadJournal: hadJournal, patience)
            identity = fresh.identity
            let rebuilt: Int?
            do {
                rebuilt = try prepare(fresh)
            } catch {
                guard isReading, Self.isAboutWriting(error), try isReadable(fresh) else { throw error }
                return fresh
            }
            fresh.generation = inMemory { $0.allowance.generation }
            file = .open(fresh)
            // Without items nothing was rebuilt: the cache is new, or was purged as a whole.
            if let rebuilt, rebuilt > 0 { report(.catalogRebuilt(items: rebuilt)) }
            return fresh
        }
    }

    /// Whether a file that cannot be prepared can be read as it is. It is looked at anew every time.
    private func isReadable(_ file: CatalogFile) throws -> Bool {
        try file.queue.read { database in
            guard try !CatalogSchema.isMissing(in: database) else { return false }
            try requireUsable(database, hadJournal: file.hadJournal)
            return true
        }
    }

    /// Makes a file ready for use.
    ///
    /// - Returns: The number of items found, if the file had to be filled from them.
    private func prepare(_ file: CatalogFile) throws -> Int? {
        var rebuilt: Int?
        if try file.queue.read({ try CatalogSchema.isMissing(in: $0) }) {
            // Flushed as a whole, since it bears no mark yet.
            rebuilt = try file.durableTransaction { try fill($0) }
        }
        let hasWritten = try file.transaction(boot: environment.bootIdentifier) {
            try join($0, hadJournal: file.hadJournal || rebuilt != nil)
        }
        if rebuilt != nil || hasWritten { inMemory { $0.hasWritten = true } }
        return rebuilt
    }

    /// - Returns: The number of items found, or `nil` when another process was faster.
    private func fill(_ database: Database) throws -> Int? {
        guard try CatalogSchema.isMissing(in: database) else { return nil }
        try CatalogSchema.create(in: database)
        try database.execute(
            sql: "INSERT INTO unflushed VALUES (?)", arguments: [environment.bootIdentifier])
        // Dead writers left partials that no row accounts for. Living writers may be using, without looking
        // at the catalog, what a lost file had granted them.
        let leftovers = try WriterSession.sweep(folders.current.incoming)
        // A partial that is being written is covered by the bound of its process, which is read after this.
        // One that is suspended or abandoned meanwhile is found by the census, which comes after that.
        try census.fillPartials(database)
        for (session, bound) in try WriterSession.bounds(in: folders.current.incoming) {
            try enter(session, holding: bound, in: database)
        }
        for leftover in leftovers { try enter(leftover.session, holding: leftover.bytes, in: database) }
        try reenter(database)
        try Self.setValue(of: Self.blockSizeRow, to: census.charge.blockSize, in: database)
        return try census.fill(database, ordering: .byStoreTime)
    }

    /// The block size that the rows were charged with, as a row of the counters.
    private static let blockSizeRow = "blockSize"

    static func blockSize(_ database: Database) throws -> Int64 {
        try value(of: blockSizeRow, in: database)
    }

    /// Charges all files anew for the blocks of the volume. Their order stays.
    func recharge(_ database: Database) throws {
        let blockSize = census.charge.blockSize
        // As ``ChargedLength`` computes it. The + keeps SQLite from looking each row up through an index.
        let charge = "(storedLength + ?1 - 1) / ?1 * ?1 + \(ChargedLength.overhead)"
        try database.execute(
            sql: """
                UPDATE item SET chargedLength = \(charge)
                WHERE +kind IN (-1, 0, 1) AND chargedLength <> \(charge)
                """, arguments: [blockSize])
        // The charge of a partial includes that of its journal.
        try census.fillPartials(database)
        try Self.setValue(of: Self.blockSizeRow, to: blockSize, in: database)
    }

    private func enter(_ session: String, holding bytes: Int64, in database: Database) throws {
        try database.execute(sql: "INSERT INTO writer VALUES (?, ?)", arguments: [session, bytes])
    }

    /// Enters this process into a file that is filled.
    ///
    /// - Returns: Whether anything was written for that.
    private func join(_ database: Database, hadJournal: Bool) throws -> Bool {
        try requireUsable(database, hadJournal: hadJournal)
        let changes = database.totalChangesCount
        try reenter(database)
        // After the cache was moved to a volume with larger ones. For smaller ones only a repair does it: processes that
        // see one cache through different file systems would charge it to and fro.
        if try Self.blockSize(database) < census.charge.blockSize { try recharge(database) }
        try settleDeadWriters(database)
        guard database.totalChangesCount > changes else { return false }
        try CatalogFile.requireMark(database)
        return true
    }

    private func requireUsable(_ database: Database, hadJournal: Bool) throws {
        let version = try CatalogSchema.version(of: database)
        guard version == CatalogSchema.version else { throw CatalogFile.Useless("it has version \(version)") }
        guard try isTrusted(database) else {
            throw CatalogFile.Useless("the machine went down while it was in use")
        }
        // Within the transaction: no other process is about to make the journal.
        if !hadJournal, try !CatalogFile.marks(database).isEmpty,
            try !CatalogFile.hasJournal(in: folders.current.root)
        {
            throw CatalogFile.Useless("it was in use, and its journal is gone")
        }
    }

    /// Enters exactly what this process holds.
    private func reenter(_ database: Database) throws {
        let isBootUnknown = environment.bootIdentifier.isEmpty
        if isBootUnknown { try session.begin { inMemory { $0.allowance.bound } } }
        try setAllowance(inMemory { $0.allowance.reenter() }, in: database)
        // This row shows others that the file can be trusted, see ``isTrusted(_:)``.
        if isBootUnknown {
            try database.execute(
                sql: "INSERT OR IGNORE INTO writer VALUES (?, 0)", arguments: [environment.session])
        }
        lowerBound()
    }

    /// Whether every page of the file reached the device, or is still in the memory of the machine that wrote
    /// it.
    private func isTrusted(_ database: Database) throws -> Bool {
        let boot = environment.bootIdentifier
        let marks = try CatalogFile.marks(database)
        if marks.allSatisfy({ $0 == boot }), marks.isEmpty || !boot.isEmpty { return true }
        // If the boot is unknown: a living process with a row has trusted the file before.
        return try boot.isEmpty && writers(database).contains { try isAlive($0) }
    }

    /// Removes a file that was found unusable, unless another one has its name by now.
    func discard(_ useless: FileAttributes.Identity?) throws(CacheError) {
        let root = folders.current.root
        try file.withLock { file throws(CacheError) in
            if case .open(let open) = file, open.identity == useless { file = .notYet }
            try onFiles { () throws(FileSystemError) in
                guard let useless, try CatalogFile.identity(in: root) == useless else { return }
                try CatalogFile.remove(in: root)
            }
        }
    }

    /// Checks the location of the file. If the file or a side file has several names, removes them: their
    /// content can be rebuilt.
    private func clearedPlace(in root: Directory) throws(FileSystemError) -> FileAttributes.Identity? {
        do {
            return try root.requireDatabasePlace(CacheLayout.catalog, at: rootPath)
        } catch {
            guard error.isOfSecondName else { throw error }
            // Another process may have done so already.
            if try CatalogFile.hasSecondName(in: root) { try CatalogFile.remove(in: root) }
            return try root.requireDatabasePlace(CacheLayout.catalog, at: rootPath)
        }
    }

    private var rootPath: FilePath { folders.areas.caches.pushing(CacheLayout.root) }

    /// Finds what dead writers stored without a row, and takes back the rest of their allowances.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    func settleDeadWriters(_ database: Database) throws -> Bool {
        let dead = try deadWriters(database)
        guard !dead.isEmpty else { return false }
        // Their partials were covered by the allowances that are now taken back. Partials that stay keep theirs.
        let leftovers = Set(try WriterSession.sweep(folders.current.incoming).map(\.session))
        let settled = dead.filter { !leftovers.contains($0) }
        guard !settled.isEmpty else { return false }
        _ = try census.fill(database, ordering: .mostRecent)
        for session in settled { try delete(session, from: database) }
        return true
    }

    private func deadWriters(_ database: Database) throws -> [String] {
        try writers(database).filter { try $0 != environment.session && !isAlive($0) }
    }

    private func writers(_ database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "SELECT session FROM writer")
    }

    private func isAlive(_ session: String) throws(FileSystemError) -> Bool {
        try WriterSession.isAlive(session, in: folders.current.incoming)
    }

    private func delete(_ session: String, from database: Database) throws {
        try database.execute(sql: "DELETE FROM writer WHERE session = ?", arguments: [session])
    }

    /// Removes this process from the writers, and flushes the file to the device.
    func close() throws(CacheError) {
        let hasWritten = inMemory { $0.hasWritten || !$0.pending.isEmpty }
        do {
            if hasWritten { try leave() }
        } catch {
            try closeFile(flushing: false)
            guard error.isOfUnwritableVolume else { throw error }
            // This loses the order of the last uses. Stored items are found when dead writers are next
            // settled.
            return environment.logger.debug("The volume takes no more of the catalog.")
        }
        try closeFile(flushing: hasWritten)
    }

    private func leave() throws(CacheError) {
        try transaction { database in
            let kept = inMemory { state in
                state.allowance.settle(uncertain: state.allowance.giveUp())
                return state.allowance.reserved
            }
            // Held by a partial that could not be removed. The next process to settle dead writers removes
            // both the partial and the row.
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
            guard Self.isOutOfSpace(error) else { throw wrapped(error) }
            environment.logger.debug("The volume is too full for the catalog.")
        }
    }
}
