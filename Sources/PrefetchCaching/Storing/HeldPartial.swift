internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// The partial of an item under way: its file in `incoming/`, the journal that keeps its whole chunks beyond the life of
/// its writer, and the space reserved for both.
///
/// Until there is a whole chunk, it is an ordinary file of this process. Then it gets a name derived from its key, and a
/// journal, whose lock is held until the item ends. If that lock is held elsewhere, it stays an ordinary file.
///
/// Used by one thread at a time. An object that is neither published nor kept removes itself.
final class HeldPartial {
    let metadata: ItemMetadata
    let reservation: Reservation
    private let engine: Engine
    private let files: PartialFiles
    let expectedLength: Int64?
    /// When it was kept, in milliseconds since 1970; 0 for a new one.
    private let keptAt: Int64
    /// The name of the chunks in `incoming/`.
    private(set) var name: FilePath
    /// The file of the chunks, once it is open.
    private var chunks: Descriptor?
    /// The length of that file, as far as whole chunks were noted.
    private var storedBytes: Int64 = 0
    /// Whether the chunks are to be kept from the first whole one on.
    private var isWaitingForChunk: Bool
    /// The journal while its lock is held …
    private var journalFile: Descriptor?
    /// … and what it says.
    private(set) var journal: PartialJournal?
    /// Whether it was published, kept or removed.
    private(set) var isOver = false

    /// The folder of the file.
    var incoming: Directory { files.incoming }

    private var fileSystem: any FileSystem { files.incoming.fileSystem }
    private var hash: KeyHash { metadata.key.hash }

    /// A new partial, which ``create()`` creates.
    ///
    /// - Parameter keepsChunks: Whether its whole chunks are kept.
    init(
        _ engine: Engine, _ metadata: ItemMetadata, expectedLength: Int64?, keepingChunks keepsChunks: Bool,
        _ reservation: Reservation
    ) {
        self.engine = engine
        self.metadata = metadata.stored(at: engine.environment.now())
        self.expectedLength = expectedLength
        self.reservation = reservation
        isWaitingForChunk = keepsChunks
        keptAt = 0
        files = PartialFiles(incoming: engine.folders.current.incoming)
        name = engine.session.nextPartial()
    }

    /// Continues a partial whose lock was taken, and whose row was replaced by the reservation.
    init(_ engine: Engine, _ taken: TakenPartial, of partial: ResumablePartial, _ reservation: Reservation) {
        self.engine = engine
        self.reservation = reservation
        metadata = partial.metadata.stored(at: engine.environment.now())
        expectedLength = partial.expectedLength
        isWaitingForChunk = false
        keptAt = taken.keptAt
        files = taken.files
        name = CacheLayout.keptPartial(of: partial.metadata.key.hash)
        journalFile = taken.journal
    }

    deinit {
        remove()
    }

    /// Creates the file of a new partial.
    func create() throws(CacheError) -> Descriptor {
        let mode = OpenMode.createNew(CacheLayout.filePermissions)
        let file = try onFiles(fileSystem.open(name, in: incoming.descriptor, mode))
        chunks = file
        return file
    }

    /// Creates the file of a new partial as a clone of another one.
    ///
    /// - Returns: `nil` where there are no clones.
    func create(cloning original: Descriptor) throws(FileSystemError) -> Descriptor? {
        do throws(FileSystemError) {
            try fileSystem.clone(
                original, to: name, in: incoming.descriptor, permissions: CacheLayout.filePermissions)
        } catch {
            guard error.isUnsupported || error.errno == .improperLink || error.isNotPermitted else {
                throw error
            }
            return nil
        }
        do throws(FileSystemError) {
            let file = try fileSystem.open(name, in: incoming.descriptor, .readWrite)
            chunks = file
            return file
        } catch {
            try files.unlink(name)
            throw error
        }
    }

    // MARK: Keeping chunks

    /// Records whole chunks that were written.
    func note(_ new: ArraySlice<Chunk>, _ encoding: ItemEncoding) throws {
        storedBytes += new.reduce(0) { $0 + Int64($1.storedBytes) }
        if isWaitingForChunk {
            isWaitingForChunk = false
            try beginJournal(encoding, chunkCount: new.count)
        }
        guard let journalFile, let count = journal?.chunks.count else { return }
        try coverJournal(chunkCount: count + new.count)
        try onJournal { () throws(FileSystemError) in
            try journal?.append(new, to: journalFile, in: fileSystem)
        }
    }

    private func coverJournal(chunkCount: Int) throws {
        let length = PartialJournal.length(metadata: metadata, chunkCount: chunkCount)
        try reservation.cover(journal: length, storedBytes: storedBytes)
    }

    /// Takes the lock of the partial, removes what was kept before, begins a journal, and gives the file its name.
    private func beginJournal(_ encoding: ItemEncoding, chunkCount: Int) throws {
        let environment = engine.environment
        let session = PartialFiles.number(ofSession: environment.session)
        guard session != 0 else { return }
        try coverJournal(chunkCount: chunkCount)
        do throws(FileSystemError) {
            guard case .locked(let file) = try files.lock(hash, creating: true) else { return }
            // From here on, the journal is removed with the item.
            journalFile = file
            // A newer version may keep a partial there.
            if let old = try PartialHead(of: file, in: fileSystem), old.version > PartialJournal.version {
                return dropJournal()
            }
            // A session uses each name only once.
            let generation = Array("\(environment.session) \(name)".utf8).withUnsafeBytes { Checksum.of($0) }
            let journal = PartialJournal(
                metadata: metadata, encoding: encoding, expectedLength: expectedLength,
                generation: generation)
            self.journal = journal
            let newName = CacheLayout.keptPartial(of: hash)
            try files.unlink(newName)
            engine.catalog.notePartialGone(hash)
            try fileSystem.resize(file, to: 0)
            try journal.begin(file, in: fileSystem, writer: session, keptAt: environment.now())
            try fileSystem.rename(
                name, in: incoming.descriptor, to: newName, in: incoming.descriptor, .replacing)
            name = newName
        } catch {
            // An unusable name does not prevent the item from being stored.
            guard error.isNotRegularFile || error.isNotPermitted else { throw error }
            if journalFile != nil { try files.unlink(CacheLayout.journal(of: hash)) }
            dropJournal()
        }
    }

    /// Gives up the lock; the partial stays an ordinary file.
    private func dropJournal() {
        if let journalFile { fileSystem.unlock(journalFile) }
        (journalFile, journal) = (nil, nil)
    }

    private func onJournal(_ body: () throws(FileSystemError) -> Void) throws(FileSystemError) {
        do {
            try body()
        } catch {
            throw error.naming(CacheLayout.journal(of: hash))
        }
    }

    // MARK: Resuming

    /// Reads the journal of a partial that was taken over.
    ///
    /// - Returns: `nil` for an unusable one.
    func readJournal() throws(CacheError) -> PartialJournal? {
        guard let journalFile else { return nil }
        let length = try onFiles(files.lengthOfChunks(hash))
        do throws(ItemFormatError) {
            var journal = try PartialJournal(of: journalFile, in: fileSystem)
            journal.cut(toStoredLength: length ?? 0)
            self.journal = journal
            return journal
        } catch {
            if case .fileSystem(let error) = error { throw .fileSystem(error) }
            return nil
        }
    }

    /// Opens the chunks of a partial that was taken over.
    ///
    /// - Returns: `nil` for a file with a second hard link, through which the changes would be visible.
    func openChunks() throws(CacheError) -> Descriptor? {
        do {
            chunks = try fileSystem.open(name, in: incoming.descriptor, .readWrite)
        } catch {
            guard error.isHardLinked else { throw .fileSystem(error) }
        }
        return chunks
    }

    /// Reads the kept content, and cuts everything off from the first damaged chunk on.
    func verify(handing replay: (UnsafeRawBufferPointer) -> Void) throws {
        guard let chunks, let journalFile, var journal else { return }
        let sound = try journal.verify(in: chunks, of: fileSystem, codecs: engine.codecs, handing: replay)
        journal.cut(to: sound)
        storedBytes = journal.storedBytes
        self.journal = journal
        for (file, end) in [(chunks, storedBytes), (journalFile, journal.length)] {
            if try fileSystem.attributes(of: file).length != end { try fileSystem.resize(file, to: end) }
        }
    }

    // MARK: Its end

    /// What can be resumed; `nil` when nothing is kept.
    var kept: ResumablePartial? { journal.map { ResumablePartial($0) } }

    /// Ends the partial, which stays and can be resumed.
    ///
    /// - Parameter writtenBytes: The length of the file of the chunks.
    func keep(_ writtenBytes: Int64) throws(CacheError) {
        try engine.locks.hold(hash.ofPartial) { () throws(CacheError) in
            try onFiles { () throws(FileSystemError) in
                // Of several chunks written at once, those before a refused one are in the file and not in the
                // journal. A file that is longer than its row would count as resumed by another writer.
                if let chunks, writtenBytes > storedBytes { try fileSystem.resize(chunks, to: storedBytes) }
                let now = engine.environment.now()
                try release(keptAt: now, storedBytes, journalLength: journal?.length ?? 0)
            }
        }
        close()
    }

    /// Ends a partial that was taken over and has not been changed since.
    func putBack() {
        do throws(FileSystemError) {
            try engine.locks.hold(hash.ofPartial) { () throws(FileSystemError) in
                try release(
                    keptAt: keptAt, files.lengthOfChunks(hash) ?? 0,
                    journalLength: journalFile.map { file throws(FileSystemError) in
                        try fileSystem.attributes(of: file).length
                    } ?? 0)
            }
            close()
        } catch {
            warn("A partial could not be kept.", error)
            remove()
        }
    }

    /// From here on, the row of the partial is charged for it.
    private func release(keptAt: Int64, _ storedBytes: Int64, journalLength: Int64) throws(FileSystemError) {
        guard let journal, let journalFile else { return }
        try PartialHead.write(writer: 0, keptAt: keptAt, to: journalFile, in: fileSystem)
        let row = CatalogRow(
            partial: journal, keptAt: keptAt, now: engine.environment.now(), storedBytes: storedBytes,
            journalLength: journalLength, charge: engine.charge)
        engine.catalog.noteStored(row, reserved: reservation.take())
    }

    /// Removes the journal of an item that was published. If it cannot be removed, it stays charged until a sweep after
    /// this process has ended.
    func removeJournal() {
        guard journalFile != nil else { return }
        do {
            try files.unlink(CacheLayout.journal(of: hash))
        } catch {
            reservation.leaveJournalBytes()
            warn("A journal could not be removed.", error)
        }
    }

    /// Removes the partial and releases its space.
    func remove() {
        guard !isOver else { return }
        isOver = true
        if let chunks { fileSystem.close(chunks) }
        defer { if let journalFile { fileSystem.unlock(journalFile) } }
        do throws(FileSystemError) {
            if journalFile != nil {
                try engine.locks.hold(hash.ofPartial) { () throws(FileSystemError) in
                    try files.unlink(name)
                    try files.unlink(CacheLayout.journal(of: hash))
                    engine.catalog.notePartialGone(hash)
                }
            } else if chunks != nil {
                try files.unlink(name)
            }
            reservation.release()
        } catch {
            // The first sweep after this process has ended removes it. Until then it stays charged.
            _ = reservation.take()
            warn("A partial could not be removed.", error)
        }
    }

    /// Closes the files of a partial that was published or kept.
    func close() {
        isOver = true
        if let chunks { fileSystem.close(chunks) }
        if let journalFile { fileSystem.unlock(journalFile) }
    }

    private func warn(_ message: Logger.Message, _ error: FileSystemError) {
        engine.environment.logger.warning(message, metadata: ["error": "\(error)"])
    }
}

extension ItemMetadata {
    func stored(at time: Int64) -> ItemMetadata {
        var metadata = self
        metadata.storedAt = time
        return metadata
    }
}
