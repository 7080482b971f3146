internal import FileSystem
internal import SystemPackage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PrefetchCache {
    /// Stores an item whose content is in memory. An older item of the same key is replaced.
    ///
    /// The item is complete under its key when the call returns, or not there at all. It is not
    /// flushed to the device: after a power cut it may be a miss.
    ///
    /// - Returns: ``StoreOutcome/refused(_:)`` when there is no room for it. No item was evicted for it
    ///   then, unless it was refused half way: an item of unknown length that outgrew its room, or one
    ///   for which the volume ran out of space.
    /// - Throws: ``CacheError/fileSystem(_:)``, or ``CacheError/item(_:)`` for metadata beyond the
    ///   limits of the format.
    /// - Complexity: O(n) in the bytes; no database transaction as long as the process's share of the
    ///   budget lasts.
    @discardableResult
    public func store(
        _ content: Data, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic
    ) async throws(CacheError) -> StoreOutcome {
        try await run { engine throws(CacheError) in
            try content.withBytes { bytes throws(CacheError) in
                try engine.store(bytes, as: metadata, encoding: encoding)
            }
        }
    }

    /// Stores an item whose content is in memory, as ``store(_:as:encoding:)`` does.
    @discardableResult
    public func store(
        _ content: [UInt8], as metadata: ItemMetadata, encoding: EncodingChoice = .automatic
    ) async throws(CacheError) -> StoreOutcome {
        try await run { engine throws(CacheError) in
            try content.withBytes { bytes throws(CacheError) in
                try engine.store(bytes, as: metadata, encoding: encoding)
            }
        }
    }

    /// Stores the content of a file, which is read piece by piece and left where it is.
    ///
    /// - Throws: As ``store(_:as:encoding:)``, and ``CacheError/notARegularFile(_:)``.
    @discardableResult
    public func store(
        contentsOf file: URL, as metadata: ItemMetadata, encoding: EncodingChoice = .automatic
    ) async throws(CacheError) -> StoreOutcome {
        guard file.isFileURL else { throw .notARegularFile(file.absoluteString) }
        let path = FilePath(file.path)
        return try await run { engine throws(CacheError) in
            try engine.store(contentsOf: path, as: metadata, encoding: encoding)
        }
    }

    /// Starts to store an item whose content arrives in pieces.
    ///
    /// - Parameters:
    ///   - expectedLength: The length of the content in bytes, when it is known. Space for the worst case is
    ///     then reserved at once, so that a refusal comes before the first byte.
    ///   - keepingPartial: Whether the content's whole chunks of 1 MiB are kept when the writer is suspended
    ///     or dropped, or its process dies, see ``partial(of:)``. What was kept of the key before is dropped.
    ///     Of two writers of one key at once, the first to have a whole chunk keeps it. An item with the
    ///     intent ``Intent/userRequested`` goes straight to its destination, and nothing is kept of it.
    ///   - forgettingPromotion: Whether an item that was opened may be stored anew, which is refused otherwise. The
    ///     record of it is forgotten, as by ``forget(_:)``, in the moment in which the new item is complete. The
    ///     file stays, and the new one goes beside it when it is opened.
    /// - Throws: As ``store(_:as:encoding:)``.
    public func beginStoring(
        _ metadata: ItemMetadata, expectedLength: Int64? = nil, encoding: EncodingChoice = .automatic,
        keepingPartial: Bool = false, forgettingPromotion: Bool = false
    ) async throws(CacheError) -> BegunStoring {
        let cache = self
        return try await run { engine throws(CacheError) in
            switch try engine.beginStore(
                metadata, encoding: encoding, expectedLength: expectedLength, keepingPartial: keepingPartial,
                forgettingPromotion: forgettingPromotion)
            {
            case .refused(let refusal): .refused(refusal)
            case .begun(let store): .writer(CacheWriter(store, of: cache))
            }
        }
    }
}

/// What became of the wish to store an item piece by piece.
public enum BegunStoring: Sendable {
    case writer(CacheWriter)
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
