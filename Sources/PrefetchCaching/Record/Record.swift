internal import Foundation
internal import GRDB
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

/// The durable database of the cache, in Application Support: which key was promoted, to which file (``Ledger``), and what
/// was counted (``History``).
///
/// It uses a write-ahead log and full synchronisation: a change that returned survives a power cut, at the cost of one
/// flush, unless its caller does without. The log is copied into the file after a second without promotions. Losing the
/// record means that items may be promoted again and that the figures begin anew, but never loses promoted bytes.
///
/// Opening, changing and closing it require the lock of its folder. Readers never wait for that lock: while SQLite
/// cannot open the files, they read the bytes of file and log directly.
final class Record: Sendable {
    private let folder: Directory
    private let path: FilePath
    private let patience: Patience
    private let open = UnfairMutex<OpenFile?>(nil)
    /// Serializes the threads that change it, since the lock of the folder has no queue. Nothing that readers need is
    /// held while waiting for that lock.
    private let turns = UnfairMutex(())
    private let isLogWritten = Atomic<Bool>(false)
    /// Available bytes below which nothing is counted: several times what all counts take.
    private static let roomToCount: Int64 = 8 << 20

    private struct OpenFile: Sendable {
        let queue: DatabaseQueue
        let log: RecordLog
        let identity: FileAttributes.Identity?
        /// The state of the files when they were read into memory; `nil` when SQLite has them open.
        var image: RecordFingerprint?
    }

    init(in folder: Directory, at path: FilePath, _ patience: Patience = Patience()) {
        self.folder = folder
        self.patience = patience
        self.path = path.appending(CacheLayout.record)
    }

    /// A value that changes with the promotions; `nil` before the first.
    ///
    /// It is the length of a file without data, which takes no space and is known after one system call: every store asks
    /// twice.
    func generation() throws(CacheError) -> RecordFingerprint? {
        try onFiles(folder.fileSystem.attributes(of: CacheLayout.generation, in: folder.descriptor))
            .map(RecordFingerprint.init)
    }

    /// Runs `body`, which enters promotions, between two changes of the generation. To be called under the lock.
    private func changingGeneration(_ body: () throws -> Void) throws {
        let fileSystem = folder.fileSystem
        let (file, length) = try openGeneration()
        defer { fileSystem.close(file) }
        let begun = (length + 2) | 1
        do {
            try fileSystem.resize(file, to: begun)
        } catch {
            guard error.isOutOfSpace else { throw error }
            // Shorter it can always become. It stays odd, or 0: every key is looked up in the ledger from then on.
            if length > 0 { try fileSystem.resize(file, to: (length - 1) | 1) }
            return try body()
        }
        // Also after an error: something may have been entered.
        defer { end(begun, of: file) }
        try body()
    }

    private func openGeneration() throws(FileSystemError) -> (file: Descriptor, length: Int64) {
        let fileSystem = folder.fileSystem
        let mode = OpenMode.createIfMissing(CacheLayout.filePermissions)
        while true {
            var length: Int64 = 0
            let file = try fileSystem.open(CacheLayout.generation, in: folder.descriptor, mode) {
                file throws(FileSystemError) in
                let found = try fileSystem.attributes(of: file)
                length = found.length
                return found.linkCount == 1
            }
            if let file { return (file, length) }
            // It is gone, or has a second name, under which somebody else's file would become longer.
            try fileSystem.unlinkIfPresent(CacheLayout.generation, in: folder.descriptor)
        }
    }

    private func end(_ begun: Int64, of file: Descriptor) {
        do {
            try folder.fileSystem.resize(file, to: begun + 1)
        } catch {
            // It stays odd: every key is looked up in the ledger until something is next entered.
        }
    }

    /// What a commit changes of the file that it is written to.
    private func fingerprint() throws(CacheError) -> RecordFingerprint? {
        guard let file = try attributes() else { return nil }
        return RecordFingerprint(try attributes(of: CacheLayout.recordLog) ?? file)
    }

    private func attributes(of name: String) throws(CacheError) -> FileAttributes? {
        try onFiles(folder.fileSystem.attributes(of: FilePath(name), in: folder.descriptor))
    }

    private func attributes() throws(CacheError) -> FileAttributes? {
        if let record = try attributes(of: CacheLayout.record) { return record }
        return try attributes(of: EarlierRecord.ledger)
    }

    /// Whether there is anything for ``checkpoint()`` to do.
    var needsCheckpoint: Bool { isLogWritten.load(ordering: .relaxed) }

    /// Copies the log into the file. Durability does not depend on it.
    func checkpoint() throws(CacheError) {
        guard isLogWritten.exchange(false, ordering: .relaxed) else { return }
        do throws(CacheError) {
            try change(creating: false) { database, log in try log.copy(in: database) }
        } catch {
            isLogWritten.store(true, ordering: .relaxed)
            throw error
        }
    }

    func close() throws(CacheError) {
        let last = open.withLock { open in
            defer { open = nil }
            return open
        }
        guard let last else { return }
        // The last connection to close copies the log. Without the lock this is not the last one, or SQLite itself
        // excludes all others while copying.
        var lock: Descriptor?
        defer { if let lock { folder.fileSystem.unlock(lock) } }
        do {
            lock = try folder.takeLock(nil, for: "record")
        } catch {
            lock = nil
        }
        do {
            try last.queue.close()
        } catch {
            throw CacheError(error, ofDatabase: "record")
        }
    }

    /// Reads without waiting for another process: while one holds a lock, from the bytes of the files. These are not
    /// kept, since the files may change without a new time stamp. Only while the record is being made, when the bytes are
    /// unusable, does it wait for the process.
    ///
    /// - Returns: `nil` when there is no record yet.
    func read<Result>(_ body: (Database) throws -> Result) throws(CacheError) -> Result? {
        guard let identity = try attributes()?.identity else { return nil }
        return try wrappingErrors {
            var busy: (any Error)?
            while busy == nil, !patience.isStalled {
                do {
                    // One statement reads a consistent state; a transaction around it would take three more.
                    return try opened(identity, isReading: true).queue.unsafeRead(body)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                    // Another thread has closed it meanwhile, as what it had read was no longer current.
                    continue
                } catch let error as CacheError where error.isBusy {
                    busy = error
                } catch let error as DatabaseError where error.isBusy {
                    busy = error
                    if error.resultCode == .SQLITE_PROTOCOL { patience.noteStall() }
                }
            }
            do {
                let image = try RecordImage.open(in: folder, at: path.removingLastComponent())
                return try image.unsafeRead(body)
            } catch let error as RecordImage.Unavailable {
                guard busy != nil else { throw error }
                // Another process is making the record right now, which is quick, or has died doing so.
                let lock = try folder.takeLock(patience, for: "record")
                defer { folder.fileSystem.unlock(lock) }
                let now = try attributes()?.identity
                return try opened(now, isReading: false).queue.unsafeRead(body)
            }
        }
    }

    /// Makes the record if there is none, unless another process is changing it.
    func create() throws(CacheError) {
        guard try attributes() == nil else { return }
        try requireWritable()
        try change(creating: true, isWaiting: false) { _, log in try log.lengthen() }
    }

    /// Runs `body`, which enters promotions, while nothing else changes the record.
    ///
    /// - Parameter creating: Whether to create the record if there is none; otherwise nothing is done then.
    func write(creating: Bool, _ body: (Database, RecordLog) throws -> Void) throws(CacheError) {
        // Even after an error something may have been written.
        isLogWritten.store(true, ordering: .relaxed)
        try change(creating: creating) { database, log in
            try changingGeneration { try body(database, log) }
        }
    }

    /// Runs `body`, which enters what was counted and nothing about promotions, while nothing else changes the record. It is
    /// not flushed: a power cut may undo it. A volume that is almost full is left to what the user opens.
    ///
    /// - Parameter isWaiting: Whether to wait while another process changes the record.
    func count(isWaiting: Bool, _ body: (Database) throws -> Void) throws(CacheError) {
        try requireWritable()
        // Where that is unknown, SQLite finds out.
        guard folder.available ?? .max >= Self.roomToCount else {
            throw .fileSystem(FileSystemError("write", path: path, errno: .noSpace))
        }
        try change(creating: true, isWaiting: isWaiting) { database, log in
            try log.lengthen()
            try log.setFlushing(false, in: database)
            try database.committing(.immediate) { try body(database) }
            log.noteWritten(in: database)
        }
    }

    /// SQLite would write where a process only looks.
    private func requireWritable() throws(CacheError) {
        try onFiles { () throws(FileSystemError) in try folder.requireWritableVolume() }
    }

    private func change(
        creating: Bool, isWaiting: Bool = true, _ body: (Database, RecordLog) throws -> Void
    ) throws(CacheError) {
        try turns.withLock { _ throws(CacheError) in
            if patience.isStalled { throw .busy("record", Self.files, in: folder) }
            try wrappingErrors {
                let lock = try folder.takeLock(isWaiting ? patience : nil, for: "record")
                defer { folder.fileSystem.unlock(lock) }
                let identity = try attributes()?.identity
                guard creating || identity != nil else { return }
                let file = try opened(identity, isReading: false)
                try file.queue.writeWithoutTransaction { database in
                    try explainingErrors(of: database) { try body(database, file.log) }
                }
                // Not earlier: SQLite may have waited, too.
                patience.noteSuccess()
            }
        }
    }

    private func wrappingErrors<Result>(_ body: () throws -> Result) throws(CacheError) -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.isBusy {
            if error.resultCode == .SQLITE_PROTOCOL { patience.noteStall() }
            throw .busy("record", Self.files, in: folder)
        } catch {
            try onFiles { () throws(FileSystemError) in try path.requireReadable(after: error) }
            throw CacheError(error, ofDatabase: "record")
        }
    }

    /// - Throws: `ENOSPC` or `EROFS` in place of an error of SQLite that is due to it.
    private func explainingErrors<Result>(
        of database: Database, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            if error.isOutOfSpace(in: database) {
                throw FileSystemError("write", path: path, errno: .noSpace)
            }
            try folder.requireWritableVolume(after: error, path)
            if error.resultCode == .SQLITE_CANTOPEN { try requireRoomForFile() }
            throw error
        }
    }

    /// SQLite does not report why it cannot create the index of the log: it retries by opening an existing one, and
    /// reports that error instead.
    private func requireRoomForFile() throws(FileSystemError) {
        let name = CacheLayout.nonexistent
        try folder.fileSystem.withFile(
            name, in: folder.descriptor, .createIfMissing(CacheLayout.filePermissions)
        ) { _ in }
        try folder.fileSystem.unlinkIfPresent(name, in: folder.descriptor)
    }

    /// - Parameters:
    ///   - identity: The current identity of the file in place.
    ///   - isReading: Whether the caller neither holds the lock of the folder nor waits for it.
    /// - Throws: ``CacheError/busy(_:by:)`` when the file has to be opened for reading while the lock is taken.
    private func opened(_ identity: FileAttributes.Identity?, isReading: Bool) throws -> OpenFile {
        try open.withLock { open in
            // A record that was removed or replaced under an open handle is no longer written to. Of two threads that
            // find none open, neither must close the other's.
            if let open, try open.identity == identity || open.identity == attributes()?.identity,
                try open.image == nil || isReading && open.image == fingerprint()
            {
                return open
            }
            let lock = isReading ? try folder.takeLock(nil, for: "record") : nil
            defer { if let lock { folder.fileSystem.unlock(lock) } }
            // Closed first: the last connection to close a file removes its log.
            try open?.queue.close()
            open = nil
            let fresh = try openFile(isReading: isReading)
            open = fresh
            return fresh
        }
    }

    /// Has SQLite open the files or, for reading on a full or read-only volume, reads them into memory. To be called
    /// under the lock: while one connection rebuilds the index of the log, SQLite lets others that open the files retry
    /// for up to 10 seconds.
    private func openFile(isReading: Bool) throws -> OpenFile {
        let folderPath = path.removingLastComponent()
        do {
            if isReading { try folder.requireWritableVolume() }
            if try attributes(of: CacheLayout.record) == nil, try attributes(of: EarlierRecord.ledger) != nil
            {
                try EarlierRecord.rename(in: folder, at: folderPath)
            }
            try folder.requireDatabasePlace(CacheLayout.record, at: folderPath)
            let queue = try openQueue()
            try EarlierRecord.removeLogs(in: folder)
            let log = try queue.unsafeRead { try RecordLog(of: $0, in: folder) }
            return OpenFile(queue: queue, log: log, identity: try attributes()?.identity)
        } catch {
            // Taken before reading, so that a change in between is read again.
            guard isReading, Self.isAboutWriting(error), let fingerprint = try fingerprint() else {
                throw error
            }
            let queue = try RecordImage.open(in: folder, at: folderPath)
            let log = try queue.unsafeRead { try RecordLog(of: $0, in: folder) }
            return OpenFile(queue: queue, log: log, identity: fingerprint.identity, image: fingerprint)
        }
    }

    /// Anything else is reported, even if the bytes could be read.
    private static func isAboutWriting(_ error: any Error) -> Bool {
        if let error = error as? FileSystemError { return error.isOutOfSpace || error.isReadOnlyVolume }
        return (error as? DatabaseError)?.resultCode == .SQLITE_READONLY
    }

    private static let files = ([""] + CacheLayout.databaseSides).map { FilePath(CacheLayout.record + $0) }

    private func openQueue() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "PrefetchCache.record"
        configuration.busyMode = .callback(patience.busyCallback())
        // The queue keeps this: a record that it kept in turn would stay open if nobody closed it.
        configuration.prepareDatabase { [weak self] database in
            guard let self else { return }
            // A new file starts with a rollback journal, whose deletion EXTRA synchronises as well: if the
            // journal reappeared after a power cut, it would empty the file. On a file system without shared
            // memory for a log, the journal stays in use. What is reset or forgotten is nowhere in the file.
            try explainingErrors(of: database) {
                try RecordSchema.isCurrent(in: database)
                try database.execute(
                    sql: """
                        PRAGMA synchronous = EXTRA;
                        PRAGMA fullfsync = ON;
                        PRAGMA checkpoint_fullfsync = ON;
                        PRAGMA journal_mode = WAL;
                        PRAGMA wal_autocheckpoint = 0;
                        PRAGMA secure_delete = ON;
                        """)
            }
        }
        let queue = try DatabaseQueue(
            path: folder.databasePath(CacheLayout.record, at: path.removingLastComponent()),
            configuration: configuration
        ).disposable
        try queue.writeWithoutTransaction { database in
            try explainingErrors(of: database) { try RecordSchema.create(in: database, folder) }
        }
        return queue
    }
}

/// What a change of a file changes about it: of that of ``Record/generation()``, and of the log or, without one, the record
/// itself.
struct RecordFingerprint: Sendable, Hashable {
    /// A file that was removed and made anew begins with the lengths of the old one.
    let identity: FileAttributes.Identity
    private let modified: Int64
    let length: Int64

    init(_ file: FileAttributes) {
        (identity, modified, length) = (file.identity, file.modified, file.length)
    }

    /// Of a generation: whether promotions are being entered, or a process has died doing that or had no room to say that it does.
    var isUnderWay: Bool { length == 0 || length % 2 == 1 }
}
