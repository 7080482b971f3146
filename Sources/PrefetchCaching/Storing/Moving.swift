internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import SystemPackage

/// What the caller of ``Engine/store(moving:as:encoding:whenPromoted:on:checking:)`` makes sure of before its file
/// becomes an item.
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
    /// Stores a file that the caller hands over. Whatever happens, its content is at its old place or in the cache, and
    /// unless it is stored, it is where it was.
    ///
    /// Content that does not compress is not copied where the file system allows that. A clone is best: it is the cache's
    /// alone from its first moment on. Where there are no clones, the file itself becomes the item, by another name and
    /// with a footer at its end, if it is certain that nobody can write to it.
    ///
    /// - Parameter check: Called for every attempt.
    func store(
        moving path: FilePath, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        whenPromoted: WhenPromoted = .leave, on terms: AdmissionTerms = AdmissionTerms(),
        checking check: () -> ContentCheck = { ContentCheck() }
    ) throws(CacheError) -> StoreOutcome {
        try usage.requireOpen()
        try onItem(metadata.validate())
        let original = try MovedFile(path, self)
        try check().begin(original.attributes.length)
        guard let replaced = try promotion(replacedBy: metadata.key, whenPromoted) else {
            return .refused(refused(.alreadyPromoted, metadata.key, from: metadata.source))
        }
        if !replaced.isPresent, try isWorthMoving(original, metadata, encoding) {
            for way in [Way.clone, .rename] {
                let begun = try refusing(metadata, expectedLength: original.attributes.length) {
                    try inPresentFolders {
                        try begin(
                            original, by: way, as: metadata, replacing: replaced, on: terms,
                            checking: check())
                    }
                }
                switch begun {
                case .refused(let refusal): return .refused(refusal)
                case .begun(nil): continue
                case .begun(let (store, tail)?):
                    let outcome = try tail.withBytes { tail throws(CacheError) in
                        try store.commit(appending: tail)
                    }
                    if way == .clone, case .stored = outcome { original.remove(storedAs: metadata.key) }
                    return outcome
                }
            }
        }
        let outcome = try copy(
            original, as: metadata, encoding: encoding, whenPromoted: whenPromoted, on: terms,
            checking: check())
        switch outcome {
        case .stored, .delivered: original.remove(storedAs: metadata.key)
        case .refused: break
        }
        return outcome
    }

    /// Removes a file that the caller hands over, and whose content is not needed. It may be gone already.
    func discard(_ path: FilePath) throws(CacheError) {
        do {
            try MovedFile(path, self).remove(storedAs: nil)
        } catch .fileSystem(let error) where error.isNotFound {
            // The caller hands it over again, since it had no time to note that it did.
        }
    }

    private enum Way {
        case clone, rename
    }

    /// A shorter file is written with a single call, which costs less than what it would save.
    private func isWorthMoving(_ original: MovedFile, _ metadata: ItemMetadata, _ encoding: EncodingChoice)
        throws(CacheError) -> Bool
    {
        guard metadata.intent == .opportunistic, original.attributes.length > ItemLimits.chunkBytes else {
            return false
        }
        switch encoding {
        case .forced(let encoding): return encoding == .identity
        case .automatic:
            let start = try onFiles(
                environment.fileSystem.bytes(of: original.file, count: ItemLimits.chunkBytes))
            return !start.withUnsafeBytes { EncodingChoice.compresses($0, codecs) }
        }
    }

    /// Makes a file, which already has all of its content, that of an item under way.
    ///
    /// - Returns: The item, which has all whole chunks, and the rest of the content; `nil` if it cannot be done this way.
    private func begin(
        _ original: MovedFile, by way: Way, as metadata: ItemMetadata, replacing replaced: ReplacedPromotion,
        on terms: AdmissionTerms, checking check: ContentCheck
    ) throws -> (store: ItemUnderWay, tail: [UInt8])? {
        let length = original.attributes.length
        if way == .rename, try !original.isMovable() { return nil }
        let partial = try newPartial(
            metadata, expectedLength: length, keepingChunks: way == .rename, on: terms)
        var file: Descriptor?
        if way == .clone {
            file = try partial.create(cloning: original)
            if file == nil { return nil }
        }
        var chunks: [Chunk] = []
        var tail: [UInt8] = []
        try environment.fileSystem.forEachPiece(of: file ?? original.file, count: length) { piece, _ in
            check.look(piece)
            if piece.count == ItemLimits.chunkBytes {
                chunks.append(Chunk(identity: piece))
            } else {
                tail = Array(piece)
            }
        }
        let present = PartialJournal(
            metadata: partial.metadata, encoding: .identity, expectedLength: length, generation: 0,
            chunks: chunks)
        guard present.contentBytes + Int64(tail.count) == length else {
            throw CacheError.fileChanged(original.path.string)
        }
        try original.requireUnchanged()
        try check.finish()
        if way == .rename { file = try partial.create(moving: original, chunks) }
        guard let file else { return nil }
        let store = try ItemUnderWay(self, in: partial, file, after: present, replacing: replaced)
        return (store, tail)
    }
}
