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
    /// Content that does not compress is not copied where the file system has clones: one is the cache's alone from its first
    /// moment on.
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
        if !replaced.isPresent, try isWorthCloning(original, metadata, encoding) {
            let begun = try refusing(metadata, expectedLength: original.attributes.length) {
                try inPresentFolders {
                    try begin(
                        cloning: original, as: metadata, replacing: replaced, on: terms, checking: check())
                }
            }
            switch begun {
            case .refused(let refusal): return .refused(refusal)
            case .begun(nil): break
            case .begun(let (store, tail)?):
                let outcome = try tail.withBytes { tail throws(CacheError) in
                    try store.commit(appending: tail)
                }
                if case .stored = outcome { original.remove(storedAs: metadata.key) }
                return outcome
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

    /// A shorter file is written with a single call, which costs less than what it would save.
    private func isWorthCloning(_ original: MovedFile, _ metadata: ItemMetadata, _ encoding: EncodingChoice)
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

    /// Makes a clone of a file, which already has all of its content, that of an item under way.
    ///
    /// - Returns: The item, which has all whole chunks, and the rest of the content; `nil` where there are no clones.
    private func begin(
        cloning original: MovedFile, as metadata: ItemMetadata, replacing replaced: ReplacedPromotion,
        on terms: AdmissionTerms, checking check: ContentCheck
    ) throws -> (store: ItemUnderWay, tail: [UInt8])? {
        let length = original.attributes.length
        let partial = try newPartial(metadata, expectedLength: length, keepingChunks: false, on: terms)
        guard let file = try partial.create(cloning: original) else { return nil }
        var chunks: [Chunk] = []
        var tail: [UInt8] = []
        try environment.fileSystem.forEachPiece(of: file, count: length) { piece, _ in
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
        let store = try ItemUnderWay(self, in: partial, file, after: present, replacing: replaced)
        return (store, tail)
    }
}
