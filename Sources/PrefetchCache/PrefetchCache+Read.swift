#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PrefetchCache {
    /// Whether there is nothing to download: the item is cached, or was opened and its file is in its
    /// place. Does not count as a use.
    public func contains(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run { engine throws(CacheError) in try engine.contains(key) }
    }

    /// The content of an item, or of the file that it became; `nil` when there is none. Never
    /// promotes.
    ///
    /// What is returned of a cached item is what was stored, or nothing: key, length and checksums
    /// are compared. Counts as a use.
    public func read(_ key: ItemKey) async throws(CacheError) -> Data? {
        try await lookUp(key).value
    }

    /// A range of the content of an item. Decodes only the chunks that the range touches.
    ///
    /// - Throws: ``CacheError/item(_:)`` with `rangeOutOfBounds` when the range is not within the
    ///   content.
    public func read(_ key: ItemKey, range: Range<Int64>) async throws(CacheError) -> Data? {
        try await lookUp(key, range: range).value
    }

    /// As ``read(_:)``, and says why an item is not there.
    public func lookUp(_ key: ItemKey, range: Range<Int64>? = nil) async throws(CacheError) -> Lookup<Data> {
        try await run { engine throws(CacheError) in try engine.read(key, range) }
    }

    /// Hands the content of an item to `sink`, piece by piece, in order and with bounded memory.
    /// `sink` is called on a thread that may block. Never promotes.
    ///
    /// - Returns: A miss when there is no such item; `sink` was not called then.
    /// - Throws: ``CacheError/item(_:)`` when damage was found after pieces were handed out, and
    ///   whatever `sink` throws.
    public func stream(
        _ key: ItemKey, range: Range<Int64>? = nil,
        to sink: @Sendable (UnsafeRawBufferPointer) throws(CacheError) -> Void
    ) async throws(CacheError) -> Lookup<Void> {
        try await run { engine throws(CacheError) in try engine.stream(key, range, to: sink) }
    }

    /// What is known of a key; `nil` when it is neither cached nor promoted. Does not count as a use.
    public func status(of key: ItemKey) async throws(CacheError) -> ItemStatus? {
        try await run { engine throws(CacheError) in try engine.status(of: key) }.value
    }

    /// What a cached item says about itself: its validator, for a conditional request, and the caller's
    /// attributes among it. `nil` when the key is not cached; what was promoted has no metadata any more. Does
    /// not count as a use.
    ///
    /// - Complexity: Independent of the length of the content: reads the item's footer.
    public func metadata(of key: ItemKey) async throws(CacheError) -> ItemMetadata? {
        try await description(of: key)?.metadata
    }

    /// As ``metadata(of:)``, with the bytes of the content.
    package func description(
        of key: ItemKey
    ) async throws(CacheError) -> (metadata: ItemMetadata, contentLength: Int64)? {
        try await run { engine throws(CacheError) in try engine.description(of: key) }
    }
}
