internal import Logging
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// What a caller makes sure of before the content of a file becomes an item.
package struct ContentCheck: Sendable {
    /// Receives the length of the file, before anything is evicted for it. If it throws, nothing is stored.
    let begin: @Sendable (Int64) throws(CacheError) -> Void
    /// Receives the content, in order.
    let look: @Sendable (UnsafeRawBufferPointer) -> Void
    /// Called after all of it. If it throws, nothing is stored.
    let finish: @Sendable () throws(CacheError) -> Void

    package init(
        begin: @escaping @Sendable (Int64) throws(CacheError) -> Void = { _ in },
        look: @escaping @Sendable (UnsafeRawBufferPointer) -> Void = { _ in },
        finish: @escaping @Sendable () throws(CacheError) -> Void = {}
    ) {
        self.begin = begin
        self.look = look
        self.finish = finish
    }
}

extension Engine {
    /// Stores content that is in memory.
    func store(
        _ content: UnsafeRawBufferPointer, as metadata: ItemMetadata, encoding: EncodingChoice,
        on terms: AdmissionTerms = AdmissionTerms()
    ) throws(CacheError) -> StoreOutcome {
        switch try begin(metadata, encoding: encoding, expectedLength: Int64(content.count), on: terms) {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store): return try store.commit(appending: content)
        }
    }

    /// Stores the content of a file, which is read piece by piece, or cloned if it does not compress and the file system has
    /// clones: one is the cache's alone from its first moment on.
    ///
    /// - Parameter isHandedOver: Whether the file is removed once it is stored, unless it was changed meanwhile.
    /// - Throws: ``CacheError/fileChanged(_:)`` for a file that is written to meanwhile, and what `check` throws. Nothing is
    ///   stored then.
    func store(
        contentsOf path: FilePath, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        whenPromoted: WhenPromoted = .leave, on terms: AdmissionTerms = AdmissionTerms(),
        checking check: ContentCheck = ContentCheck(), isHandedOver: Bool = false
    ) throws(CacheError) -> StoreOutcome {
        let fileSystem = environment.fileSystem
        let file = try onFiles(
            fileSystem.open(path, in: .workingDirectory, .readFollowingLinksWithoutWaiting))
        defer { fileSystem.close(file) }
        let before = try onFiles(fileSystem.attributes(of: file))
        guard before.kind == .regular else { throw .notARegularFile(path.string) }
        try check.begin(before.length)
        // Files of /proc report no length; they are read to their end.
        let length = before.length > 0 ? before.length : nil
        let clone = try storeClone(
            of: file, before.length, named: path.string, as: metadata, encoding: encoding,
            whenPromoted: whenPromoted, on: terms, checking: check)
        let outcome =
            if let clone { clone } else {
                try store(
                    file, length, named: path.string, as: metadata, encoding: encoding,
                    whenPromoted: whenPromoted, on: terms, checking: check)
            }
        switch outcome {
        case .stored, .delivered: if isHandedOver { removeHandedOver(path, before) }
        case .refused: break
        }
        return outcome
    }

    private func removeHandedOver(_ path: FilePath, _ before: FileAttributes) {
        let fileSystem = environment.fileSystem
        do throws(FileSystemError) {
            let found = try fileSystem.attributes(of: path, in: .workingDirectory)
            if let found, !found.isWritten(since: before) {
                try fileSystem.unlink(path, in: .workingDirectory)
            }
        } catch {
            environment.logger.warning(
                "A file was stored but could not be removed.",
                metadata: ["path": "\(path)", "error": "\(error)"])
        }
    }

    /// Stores the content of an open file.
    ///
    /// - Parameters:
    ///   - length: The most bytes to read; `nil` to read to the end.
    ///   - name: For the error.
    /// - Throws: As ``store(contentsOf:as:encoding:whenPromoted:on:checking:isHandedOver:)``.
    func store(
        _ file: Descriptor, _ length: Int64?, named name: String, as metadata: ItemMetadata,
        encoding: EncodingChoice = .automatic, whenPromoted: WhenPromoted = .leave,
        on terms: AdmissionTerms = AdmissionTerms(), checking check: ContentCheck = ContentCheck()
    ) throws(CacheError) -> StoreOutcome {
        switch try begin(
            metadata, encoding: encoding, expectedLength: length, whenPromoted: whenPromoted, on: terms)
        {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store):
            let before = try onFiles(environment.fileSystem.attributes(of: file))
            return try fill(store, length: length) { piece, isLast throws(CacheError) in
                check.look(piece)
                guard isLast else { return }
                if length != nil || before.length > 0 { try requireUnwritten(file, since: before, name) }
                try check.finish()
            } _: { buffer, offset throws(CacheError) in
                try onFiles(environment.fileSystem.readAll(file, into: buffer, at: offset))
            }
        }
    }

    private func requireUnwritten(_ file: Descriptor, since before: FileAttributes, _ name: String)
        throws(CacheError)
    {
        if try onFiles(environment.fileSystem.attributes(of: file)).isWritten(since: before) {
            throw .fileChanged(name)
        }
    }

    /// Stores a clone of a file, which has all of its content from the beginning.
    ///
    /// - Returns: `nil` where there are no clones, or one would not pay.
    private func storeClone(
        of file: Descriptor, _ length: Int64, named name: String, as metadata: ItemMetadata,
        encoding: EncodingChoice, whenPromoted: WhenPromoted, on terms: AdmissionTerms,
        checking check: ContentCheck
    ) throws(CacheError) -> StoreOutcome? {
        try usage.requireOpen()
        try onItem(metadata.validate())
        guard try isWorthCloning(file, length, metadata, encoding),
            let replaced = try promotion(replacedBy: metadata.key, whenPromoted), !replaced.isPresent
        else { return nil }
        let begun = try refusing(metadata, expectedLength: length) {
            try inPresentFolders { () -> (store: ItemUnderWay, tail: [UInt8])? in
                let partial = try newPartial(
                    metadata, expectedLength: length, keepingChunks: false, on: terms)
                let before = try environment.fileSystem.attributes(of: file)
                guard let clone = try partial.create(cloning: file) else { return nil }
                var (chunks, tail): ([Chunk], [UInt8]) = ([], [])
                try environment.fileSystem.forEachPiece(of: clone, count: length) { piece, _ in
                    check.look(piece)
                    if piece.count == ItemLimits.chunkBytes {
                        chunks.append(Chunk(identity: piece))
                    } else {
                        tail = Array(piece)
                    }
                }
                try requireUnwritten(file, since: before, name)
                try check.finish()
                let present = PartialJournal(
                    metadata: partial.metadata, encoding: .identity, expectedLength: length, generation: 0,
                    chunks: chunks)
                return (try ItemUnderWay(self, in: partial, clone, after: present, replacing: replaced), tail)
            }
        }
        switch begun {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let begun):
            return try begun.map { store, tail throws(CacheError) in
                try tail.withBytes { tail throws(CacheError) in try store.commit(appending: tail) }
            }
        }
    }

    /// A shorter file is written with a single call, which costs less than what a clone would save.
    private func isWorthCloning(
        _ file: Descriptor, _ length: Int64, _ metadata: ItemMetadata, _ encoding: EncodingChoice
    ) throws(CacheError) -> Bool {
        guard metadata.intent == .opportunistic, length > ItemLimits.chunkBytes else { return false }
        switch encoding {
        case .forced(let encoding): return encoding == .identity
        case .automatic:
            let start = try onFiles(environment.fileSystem.bytes(of: file, count: ItemLimits.chunkBytes))
            return !start.withUnsafeBytes { EncodingChoice.compresses($0, codecs) }
        }
    }

    /// Stores the files of a folder as a bundle.
    ///
    /// - Throws: ``CacheError/fileChanged(_:)`` for a file that is changed meanwhile. Nothing is stored then.
    func store(
        contentsOfFolder path: FilePath, as metadata: ItemMetadata, encoding: EncodingChoice,
        on terms: AdmissionTerms = AdmissionTerms()
    ) throws(CacheError) -> StoreOutcome {
        let source = try BundleSource(path, in: environment.fileSystem)
        var metadata = metadata
        metadata.parts = source.parts
        let length = source.parts.contentBytes
        switch try begin(metadata, encoding: encoding, expectedLength: length, on: terms) {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store):
            return try fill(store, length: length) { buffer, offset throws(CacheError) in
                guard try onFiles(source.read(into: buffer, at: offset)) else {
                    throw .fileChanged(path.string)
                }
                return buffer.count
            }
        }
    }

    /// Stores the content of an abandoned promotion; the caller holds the lock of the key. Without room the content is
    /// dropped, as any item may be.
    func restoreToCache(
        _ metadata: ItemMetadata, _ length: Int64,
        _ read: (UnsafeMutableRawBufferPointer, Int64) throws(CacheError) -> Int
    ) throws(CacheError) {
        let begun = try refusing(metadata) {
            try beginItemInPlace(
                metadata, encoding: .automatic, expectedLength: length, replacing: .abandoned)
        }
        if case .begun(let store) = begun { _ = try fill(store, length: length, read) }
    }

    /// - Parameters:
    ///   - look: Receives every piece before it is stored, and whether it is the last.
    ///   - read: Fills a buffer with the content from an offset on; returns the number of bytes.
    private func fill(
        _ store: any StoreUnderWay, length: Int64?,
        looking look: (UnsafeRawBufferPointer, Bool) throws(CacheError) -> Void = { _, _ in },
        _ read: (UnsafeMutableRawBufferPointer, Int64) throws(CacheError) -> Int
    ) throws(CacheError) -> StoreOutcome {
        do {
            let window = Int64(codecs.parallelism * ItemLimits.chunkBytes)
            var buffer = [UInt8](repeating: 0, count: Int(min(length ?? window, window)))
            var offset: Int64 = 0
            while true {
                let wanted = Int(min(Int64(buffer.count), (length ?? .max) - offset))
                let count = try buffer.withMutableBytes { bytes throws(CacheError) in
                    try read(bytes.slice(0..<wanted), offset)
                }
                offset += Int64(count)
                let isLast = count < wanted || offset == length
                let outcome = try buffer.withBytes { bytes throws(CacheError) -> StoreOutcome? in
                    let piece = bytes.slice(0..<count)
                    try look(piece, isLast)
                    if isLast { return try store.commit(appending: piece) }
                    return try store.append(piece).map(StoreOutcome.refused)
                }
                if let outcome { return outcome }
            }
        } catch {
            store.cancel()
            throw error
        }
    }

    enum BegunStore<Store> {
        case begun(Store)
        case refused(Refusal)
    }

    /// Begins to store an item piece by piece, as ``begin(_:encoding:expectedLength:)`` does, for a caller
    /// that adds the pieces in later calls. Closing the cache ends the store.
    ///
    /// - Parameters:
    ///   - keepingPartial: Whether whole chunks are kept when the store is interrupted.
    ///   - whenPromoted: What to do if the key was opened.
    func beginStore(
        _ metadata: ItemMetadata, encoding: EncodingChoice, expectedLength: Int64?,
        keepingPartial: Bool = false, whenPromoted: WhenPromoted = .leave,
        on terms: AdmissionTerms = AdmissionTerms()
    ) throws(CacheError) -> BegunStore<UnfinishedStore> {
        switch try begin(
            metadata, encoding: encoding, expectedLength: expectedLength, keepingPartial: keepingPartial,
            whenPromoted: whenPromoted, on: terms)
        {
        case .refused(let refusal): return .refused(refusal)
        case .begun(let store): return .begun(try stores.add(store))
        }
    }

    /// Begins to store an item piece by piece, within one call of the cache.
    ///
    /// - Parameter expectedLength: Bytes of content, if known. For more than one chunk, space for the worst
    ///   case is then reserved at once, so that a refusal comes before the first byte.
    private func begin(
        _ metadata: ItemMetadata, encoding: EncodingChoice, expectedLength: Int64?,
        keepingPartial: Bool = false, whenPromoted: WhenPromoted = .leave, on terms: AdmissionTerms
    ) throws(CacheError) -> BegunStore<any StoreUnderWay> {
        try usage.requireOpen()
        try onItem(metadata.validate())
        let key = metadata.key
        guard let replaced = try promotion(replacedBy: key, whenPromoted) else {
            return .refused(refused(.alreadyPromoted, key, from: metadata.source))
        }
        guard metadata.intent == .opportunistic, !replaced.isPresent else {
            // Nobody waits for it, and so it takes only what the volume can spare.
            if metadata.intent == .opportunistic, let refusal = try admission.refusal() {
                return .refused(refused(refusal, key, from: metadata.source, bytes: expectedLength))
            }
            if keepingPartial { try discardStagedPartials(key) }
            // For its folder and its empty file.
            return try admission.retryingAfterEviction {
                () throws(CacheError) in
                try metadata.destination.map(promoter.stager.isOnVolumeOfItems) == true ? 0 : nil
            } _: { () throws(CacheError) in
                try .begun(
                    Delivery(
                        self, metadata, expectedLength: expectedLength, keepingChunks: keepingPartial,
                        whenPromoted: replaced.onDelivery))
            }
        }
        return try refusing(metadata, expectedLength: expectedLength) {
            if keepingPartial { try discardCachedPartial(key) }
            return try beginItemInPlace(
                metadata, encoding: encoding, expectedLength: expectedLength, keepingPartial: keepingPartial,
                replacing: replaced, on: terms)
        }
    }

    private func beginItemInPlace(
        _ metadata: ItemMetadata, encoding: EncodingChoice, expectedLength: Int64?,
        keepingPartial: Bool = false, replacing replaced: ReplacedPromotion = .absent,
        on terms: AdmissionTerms = AdmissionTerms()
    ) throws -> any StoreUnderWay {
        try inPresentFolders {
            let partial = try newPartial(
                metadata, expectedLength: expectedLength, keepingChunks: keepingPartial, on: terms)
            return try ItemUnderWay(
                self, in: partial, partial.create(), encoding: encoding, replacing: replaced)
        }
    }

    /// A partial without a file, for which there is room.
    func newPartial(
        _ metadata: ItemMetadata, expectedLength: Int64?, keepingChunks: Bool, on terms: AdmissionTerms
    ) throws -> HeldPartial {
        let length = expectedLength ?? 0
        guard length <= ItemLimits.contentBytes else { throw ItemFormatError.contentTooLong }
        if let refusal = try admission.refusal() { throw Refused(refusal) }
        try requireTimeLeft(metadata)
        try catalog.beginWriting()
        let reservation = Reservation(
            admission, charge: charge, for: Newcomer(metadata, terms), isLengthKnown: expectedLength != nil)
        try reservation.coverAll(length, of: metadata, isJournaled: keepingChunks)
        return HeldPartial(
            self, metadata, expectedLength: expectedLength, keepingChunks: keepingChunks, reservation)
    }

    /// - Throws: ``Refused`` for an item that would not be served.
    func requireTimeLeft(_ metadata: ItemMetadata) throws(Refused) {
        if metadata.hasExpired(at: environment.now) { throw Refused(.expired) }
    }

    /// Starts over when the system has purged the cache's folders since they were opened: what was reserved in the old
    /// ones does not count in the new ones.
    func inPresentFolders<Store>(_ begin: () throws -> Store) throws -> Store {
        let incoming = folders.current.incoming
        do {
            return try begin()
        } catch CacheError.fileSystem(let error) where error.isNotFound {
            _ = try folders.repair()
            guard folders.current.incoming !== incoming else { throw error }
            return try begin()
        }
    }

    /// Runs `body`, which begins a store, and counts and returns its refusal.
    func refusing<Store>(
        _ metadata: ItemMetadata, expectedLength: Int64? = nil, _ body: () throws -> Store
    ) throws(CacheError) -> BegunStore<Store> {
        do {
            return .begun(try body())
        } catch {
            return .refused(
                refused(try Refusal(error), metadata.key, from: metadata.source, bytes: expectedLength))
        }
    }

    /// The promotion whose record ends when an item of the key is stored; `nil` when the key cannot be stored: its file
    /// is there, and is left.
    func promotion(replacedBy key: ItemKey, _ whenPromoted: WhenPromoted)
        throws(CacheError) -> ReplacedPromotion?
    {
        if whenPromoted == .storeAgain { return .any }
        guard let entry = try promotedEntry(key) else { return .absent }
        if try isThere(entry) { return whenPromoted == .replaceIfUnmodified ? .present : nil }
        // An intent without a file has failed, and is dropped when its key is opened.
        return entry.state == .committed ? .lost(entry) : .absent
    }

    /// Counts an open, and reports an item that was promoted just now. Its row is counted when it is deleted.
    func noteOpen(_ opened: PromotedFile) {
        guard opened.isFirstOpen else {
            return history.record(
                UsageEvent(
                    kind: .reopened, key: opened.key.string, source: opened.provenance?.source ?? ""))
        }
        catalog.notePromoted(opened.key.hash)
        events.send(.promoted(opened.key, opened.location))
    }

    /// Returns why an item would be refused now, as far as that is known before its first byte, and counts the refusal.
    func refusal(
        of metadata: ItemMetadata, expectedLength: Int64?, on terms: AdmissionTerms
    ) throws(CacheError) -> Refusal? {
        try usage.requireOpen()
        if let refusal = try admission.refusal() {
            return refused(refusal, metadata.key, from: metadata.source, bytes: expectedLength)
        }
        if metadata.hasExpired(at: environment.now) {
            return refused(.expired, metadata.key, from: metadata.source, bytes: expectedLength)
        }
        let (knowledge, newcomer) = (history.knowledge(), Newcomer(metadata, terms))
        if terms.usesGate, knowledge.pauses(metadata.key, from: metadata.source) {
            catalog.noteDeclined(newcomer)
            return refused(
                .paused(source: metadata.source), metadata.key, from: metadata.source, bytes: expectedLength)
        }
        let usual = terms.turn?.usualLength ?? knowledge.usualLength(of: metadata.source)
        let bytes = charge(
            storedBytes: ItemFooter.storedBytesBound(
                contentBytes: expectedLength ?? usual ?? 0, metadata: metadata))
        return try admission.refusal(ofItem: bytes, isGuess: expectedLength == nil, for: newcomer)
            .map { refused($0, metadata.key, from: metadata.source, bytes: expectedLength) }
    }

    /// Counts and reports a refusal.
    ///
    /// - Parameter bytes: Bytes of content, if known.
    func refused(_ refusal: Refusal, _ key: ItemKey, from source: String, bytes: Int64? = nil) -> Refusal {
        history.record(
            UsageEvent(
                kind: .refused(refusal.counted.metric), key: key.string, source: source,
                contentBytes: bytes ?? 0))
        events.send(.refused(key, refusal))
        return refusal
    }
}
