public import Foundation
internal import PrefetchFileSystem
package import PrefetchItemFormat
package import SystemPackage

extension PrefetchCache {
    /// Stores an item whose content is in memory, replacing an older item of the same key.
    ///
    /// When the call returns, the item is complete under its key, or not there at all. It is not flushed to
    /// the device: after a power cut it may be a miss. An item with the intent ``Intent/userRequested`` goes
    /// straight to its destination instead, and is durable.
    ///
    /// - Parameters:
    ///   - content: At most ``ItemLimits/contentBytes`` bytes; of a bundle, as many as its `parts` have together.
    ///   - metadata: The key, and what else is kept in the item.
    ///   - encoding: Whether the item is compressed; by default, if that makes its first chunk smaller by at least an eighth.
    ///   - admission: What may be evicted for the item.
    /// - Returns: ``StoreOutcome/refused(_:)`` when there is no room for the item. Nothing was evicted for it
    ///   then, unless it was refused half-way: an item of unknown length that outgrew its room, or one for
    ///   which the volume ran out of space.
    /// - Throws: ``CacheError/item(_:)`` when metadata or content exceed the limits of the format. For an
    ///   item with the intent ``Intent/userRequested`` also
    ///   ``CacheError/insufficientSpace(needed:available:)``, ``CacheError/destination(_:_:)`` and
    ///   ``CacheError/destinationUnavailable(_:)``.
    /// - Complexity: O(n) in the bytes. No database transaction as long as the process's share of the budget
    ///   lasts.
    @discardableResult
    public func store(
        _ content: Data, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        admission: AdmissionMode = .evicting
    ) async throws(CacheError) -> StoreOutcome {
        try await run { engine throws(CacheError) in
            try content.withBytes { bytes throws(CacheError) in
                try engine.store(bytes, as: metadata, encoding: encoding, on: AdmissionTerms(admission))
            }
        }
    }

    /// Stores an item whose content is in memory, as ``store(_:as:encoding:admission:)-(Data,_,_,_)`` does.
    @discardableResult
    public func store(
        _ content: [UInt8], as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        admission: AdmissionMode = .evicting
    ) async throws(CacheError) -> StoreOutcome {
        try await run { engine throws(CacheError) in
            try content.withBytes { bytes throws(CacheError) in
                try engine.store(bytes, as: metadata, encoding: encoding, on: AdmissionTerms(admission))
            }
        }
    }

    /// Stores the content of a file, which is left where it is. Cancelling the task has no effect.
    ///
    /// Content that does not compress is not copied if it has more than 1 MiB and the file system has clones (APFS, btrfs,
    /// XFS): the item shares the blocks of the file.
    ///
    /// - Throws: As ``store(_:as:encoding:admission:)-(Data,_,_,_)``, ``CacheError/notARegularFile(_:)``, and
    ///   ``CacheError/fileChanged(_:)`` when the file is written to meanwhile: nothing is stored then.
    @discardableResult
    public func store(
        contentsOf file: URL, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        admission: AdmissionMode = .evicting
    ) async throws(CacheError) -> StoreOutcome {
        guard file.isFileURL else { throw .notARegularFile(file.absoluteString) }
        return try await store(
            contentsOf: FilePath(file.path), as: metadata, encoding: encoding, admission: admission)
    }

    /// Stores the content of a file, as ``store(contentsOf:as:encoding:admission:)`` does. The name of the file may have
    /// bytes that are not UTF-8.
    package func store(
        contentsOf path: FilePath, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        admission: AdmissionMode = .evicting
    ) async throws(CacheError) -> StoreOutcome {
        try await run { engine throws(CacheError) in
            try engine.store(
                contentsOf: path, as: metadata, encoding: encoding, on: AdmissionTerms(admission))
        }
    }

    /// Stores the content of a file that is the cache's from now on: once it is stored, it is removed, unless it was changed
    /// meanwhile.
    package func store(
        handedOver file: URL, as metadata: ItemMetadata, whenPromoted: WhenPromoted, on terms: AdmissionTerms,
        checking check: ContentCheck
    ) async throws(CacheError) -> StoreOutcome {
        guard file.isFileURL else { throw .notARegularFile(file.absoluteString) }
        return try await run { engine throws(CacheError) in
            try engine.store(
                contentsOf: FilePath(file.path), as: metadata, whenPromoted: whenPromoted, on: terms,
                checking: check, isHandedOver: true)
        }
    }

    /// Stores the files of a folder, and of the folders in it, as one item: a bundle, which becomes a folder with these files
    /// when it is opened. They are read one by one and left where they are; the `parts` of the metadata are replaced by
    /// their list. Cancelling the task has no effect.
    ///
    /// - Throws: As ``store(_:as:encoding:admission:)-(Data,_,_,_)``; ``CacheError/notARegularFile(_:)`` for anything in the
    ///   folder that is neither a file nor a folder, ``CacheError/unsuitableName(_:_:)``, and ``CacheError/fileChanged(_:)``
    ///   when the files are changed meanwhile.
    @discardableResult
    public func store(
        contentsOfFolder folder: URL, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        admission: AdmissionMode = .evicting
    ) async throws(CacheError) -> StoreOutcome {
        guard folder.isFileURL else { throw .notARegularFile(folder.absoluteString) }
        return try await store(
            contentsOfFolder: FilePath(folder.path), as: metadata, encoding: encoding, admission: admission)
    }

    package func store(
        contentsOfFolder path: FilePath, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic,
        admission: AdmissionMode = .evicting
    ) async throws(CacheError) -> StoreOutcome {
        try await run { engine throws(CacheError) in
            try engine.store(
                contentsOfFolder: path, as: metadata, encoding: encoding, on: AdmissionTerms(admission))
        }
    }

    /// Begins to store an item whose content arrives in pieces.
    ///
    /// - Parameters:
    ///   - metadata: The key, and what else is kept in the item.
    ///   - expectedLength: The length of the content in bytes, if known. Space for the worst case is then
    ///     reserved at once, so that a refusal comes before the first byte.
    ///   - encoding: Whether the item is compressed; by default, if that makes its first chunk smaller by at least an eighth.
    ///   - keepingPartial: Whether the whole chunks, of 1 MiB of content each, are kept when the writer ends by
    ///     ``CacheWriter/keep()``, is dropped, or its process dies: `PrefetchDownloader` continues after them. An earlier partial of the key is discarded. Of two
    ///     concurrent writers of one key, the first to complete a chunk keeps its partial. That of an item with the intent
    ///     ``Intent/userRequested`` is kept on the volume of its destination. The validator must be strong if the partial is to
    ///     be resumed over HTTP, as by `PrefetchDownloader`: it tells whether the rest belongs to the same version.
    ///   - whenPromoted: What to do if the key was opened, so that its file belongs to the user.
    ///   - admission: What may be evicted for the item.
    /// - Throws: As ``store(_:as:encoding:admission:)-(Data,_,_,_)``.
    public func beginStoring(
        _ metadata: ItemMetadata, expectedLength: Int64? = nil, encoding: EncodingChoice = .automatic,
        keepingPartial: Bool = false, whenPromoted: WhenPromoted = .leave,
        admission: AdmissionMode = .evicting
    ) async throws(CacheError) -> BegunStoring {
        try await beginStoring(
            metadata, expectedLength: expectedLength, encoding: encoding, keepingPartial: keepingPartial,
            whenPromoted: whenPromoted, on: AdmissionTerms(admission))
    }

    package func beginStoring(
        _ metadata: ItemMetadata, expectedLength: Int64? = nil, encoding: EncodingChoice = .automatic,
        keepingPartial: Bool = false, whenPromoted: WhenPromoted = .leave, on terms: AdmissionTerms
    ) async throws(CacheError) -> BegunStoring {
        let cache = self
        return try await run { engine throws(CacheError) in
            switch try engine.beginStore(
                metadata, encoding: encoding, expectedLength: expectedLength,
                keepingPartial: keepingPartial,
                whenPromoted: whenPromoted, on: terms)
            {
            case .refused(let refusal): .refused(refusal)
            case .begun(let store): .writer(CacheWriter(store, of: cache))
            }
        }
    }
}

/// The result of beginning to store an item piece by piece.
public enum BegunStoring: Sendable {
    /// Takes the content.
    case writer(CacheWriter)
    /// There is no room for the item, or it may not be stored.
    case refused(Refusal)
}

extension Data {
    /// `withUnsafeBytes` with a typed error.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) in try body(bytes) }
        }
        return try result.get()
    }
}
