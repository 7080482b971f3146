internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// Keeps the whole chunks of one item under way beyond the life of its writer.
///
/// Until there is a whole chunk, the item is an ordinary partial of this process. Then it gets a name derived from its
/// key, and a journal, whose lock is held as long as the item is under way. If that lock is held elsewhere, the item
/// stays an ordinary partial.
///
/// Used by one thread at a time.
final class PartialKeeper {
    private enum State {
        case waiting
        case keeping(PartialJournal, Descriptor)
        /// Another writer keeps the partial of this key, or there is no place for one.
        case unable
    }

    private let files: PartialFiles
    private let environment: CacheEnvironment
    private let metadata: ItemMetadata
    private let expectedLength: Int64?
    private let reservation: Reservation
    private let charge: ChargedLength
    private let catalog: Catalog
    private let generation: UInt64
    private var state = State.waiting
    /// The name of the chunks in `incoming/`.
    private(set) var name: FilePath
    /// The length of the file of the chunks in bytes. Bytes of the chunks that the journal lists.
    private(set) var storedBytes: Int64 = 0

    private var fileSystem: any FileSystem { environment.fileSystem }
    private var hash: KeyHash { metadata.key.hash }

    /// - Parameter name: The name of the ordinary partial.
    init(
        _ engine: Engine, _ metadata: ItemMetadata, expectedLength: Int64?, reservation: Reservation,
        in incoming: Directory, name: FilePath
    ) {
        files = PartialFiles(incoming: incoming)
        environment = engine.environment
        catalog = engine.catalog
        charge = engine.charge
        self.metadata = metadata
        self.expectedLength = expectedLength
        self.reservation = reservation
        self.name = name
        // A session uses each name only once.
        generation = Array("\(engine.environment.session) \(name)".utf8).withUnsafeBytes { Checksum.of($0) }
    }

    /// Creates the keeper of a resumed partial, whose lock is held.
    init(
        _ engine: Engine, resuming partial: TakenPartial, _ journal: PartialJournal,
        _ reservation: Reservation
    ) {
        files = partial.files
        environment = engine.environment
        catalog = engine.catalog
        charge = engine.charge
        metadata = journal.metadata
        expectedLength = journal.expectedLength
        self.reservation = reservation
        generation = journal.generation
        name = CacheLayout.keptPartial(of: journal.metadata.key.hash)
        storedBytes = journal.storedBytes
        state = .keeping(journal, partial.journal)
    }

    /// The partial, or `nil` when nothing is kept.
    var kept: ResumablePartial? {
        guard case .keeping(let journal, _) = state else { return nil }
        return ResumablePartial(journal)
    }

    /// Reserves space for a journal ahead of need.
    static func reserve(
        _ reservation: Reservation, _ metadata: ItemMetadata, expectedLength: Int64?, charge: ChargedLength
    ) {
        guard let expectedLength, expectedLength >= Int64(ItemLimits.chunkBytes) else { return }
        reservation.journalBytes = charge(
            storedBytes: PartialJournal.length(metadata: metadata, contentBytes: expectedLength))
    }

    /// Records whole chunks that were written.
    func note(_ chunks: ArraySlice<Chunk>, _ encoding: ItemEncoding) throws(ItemFormatError) {
        storedBytes += chunks.reduce(0) { $0 + Int64($1.storedBytes) }
        if case .waiting = state { try begin(encoding, chunks.count) }
        guard case .keeping(var journal, let file) = state else { return }
        try cover(chunkCount: journal.chunks.count + chunks.count)
        // Clearing the state keeps the journal's array unique, so that appending does not copy it.
        state = .waiting
        defer { state = .keeping(journal, file) }
        try onJournal { () throws(FileSystemError) in try journal.append(chunks, to: file, in: fileSystem) }
    }

    private func cover(chunkCount: Int) throws(ItemFormatError) {
        let needed = charge(
            storedBytes: PartialJournal.length(metadata: metadata, chunkCount: chunkCount))
        guard needed > reservation.journalBytes else { return }
        reservation.journalBytes = needed
        try reservation.cover(storedBytes: storedBytes)
    }

    private func begin(_ encoding: ItemEncoding, _ chunkCount: Int) throws(ItemFormatError) {
        state = .unable
        let session = PartialFiles.number(ofSession: environment.session)
        guard session != 0 else { return }
        try cover(chunkCount: chunkCount)
        let journal = PartialJournal(
            metadata: metadata, encoding: encoding, expectedLength: expectedLength, generation: generation)
        do throws(FileSystemError) {
            guard case .locked(let file) = try files.lock(hash, creating: true) else { return }
            // From here on, cancelling the item removes the journal.
            state = .keeping(journal, file)
            if try !begin(journal, in: file, session) { close() }
        } catch {
            // An unusable name does not prevent the item from being stored.
            guard error.isNotRegularFile || error.isNotPermitted else { throw .fileSystem(error) }
            do { try removeJournal() } catch { throw .fileSystem(error) }
            close()
        }
    }

    /// - Returns: Whether the chunks got their name: a newer version may keep a partial there.
    private func begin(_ journal: PartialJournal, in file: Descriptor, _ session: UInt64)
        throws(FileSystemError) -> Bool
    {
        if let old = try PartialHead(of: file, in: fileSystem), old.version > PartialJournal.version {
            return false
        }
        let chunks = CacheLayout.keptPartial(of: hash)
        try files.unlink(chunks)
        catalog.notePartialGone(hash)
        try fileSystem.resize(file, to: 0)
        try journal.begin(file, in: fileSystem, writer: session, keptAt: environment.now())
        try fileSystem.rename(
            name, in: files.incoming.descriptor, to: chunks, in: files.incoming.descriptor, .replacing)
        name = chunks
        return true
    }

    /// Releases the partial, which stays. The caller notes it, with its reservation, before any other change.
    ///
    /// - Returns: The row of the partial.
    func suspend() throws(FileSystemError) -> CatalogRow? {
        guard case .keeping(let journal, let file) = state else { return nil }
        let now = environment.now()
        try PartialHead.write(writer: 0, keptAt: now, to: file, in: fileSystem)
        return CatalogRow(
            partial: journal, keptAt: now, now: now, storedBytes: storedBytes,
            journalLength: journal.length, charge: charge)
    }

    /// Removes the journal of an item that was published or cancelled.
    func removeJournal() throws(FileSystemError) {
        guard case .keeping = state else { return }
        try files.unlink(CacheLayout.journal(of: hash))
    }

    /// Releases the lock.
    func close() {
        guard case .keeping(_, let file) = state else { return }
        state = .unable
        fileSystem.unlock(file)
    }

    private func onJournal(_ body: () throws(FileSystemError) -> Void) throws(ItemFormatError) {
        do {
            try body()
        } catch {
            throw .fileSystem(error.naming(CacheLayout.journal(of: hash)))
        }
    }
}
