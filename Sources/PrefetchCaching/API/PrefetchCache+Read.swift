public import Foundation
public import PrefetchItemFormat
public import PrefetchStorageAreas

extension PrefetchCache {
    /// Returns whether there is nothing to download: the item is cached, or was opened and its file is at its
    /// destination. Does not count as a use.
    public func contains(_ key: ItemKey) async throws(CacheError) -> Bool {
        try await run(in: .reads) { engine throws(CacheError) in try engine.contains(key) }
    }

    /// Returns the content of an item, or of the file that it was promoted to; `nil` on a miss. Never
    /// promotes.
    ///
    /// For a cached item the result is what was stored, or `nil`: key, length and checksums are compared.
    /// Cancelling the task has no effect.
    ///
    /// A task that reads without a pause is suspended now and then, so that other tasks get a turn, and so that the uses that it
    /// notes can be written.
    ///
    /// The read counts as a use by the user, in the order of eviction and in the figures. Pass `false` as `recordingUse`
    /// for what the app does on its own account, such as making an index or a preview.
    ///
    /// - Throws: ``CacheError/fileSystem(_:)`` with `ENOMEM` when the content exceeds the available memory.
    public func read(_ key: ItemKey, recordingUse: Bool = true) async throws(CacheError) -> Data? {
        try await lookUp(key, recordingUse: recordingUse).value
    }

    /// Returns a range of the content of an item, in bytes, as ``read(_:recordingUse:)`` returns all of it. Decodes only the
    /// chunks that the range touches.
    ///
    /// - Throws: ``CacheError/item(_:)`` with `rangeOutOfBounds` when the range exceeds the content.
    public func read(
        _ key: ItemKey, range: Range<Int64>, recordingUse: Bool = true
    ) async throws(CacheError) -> Data? {
        try await lookUp(key, range: range, recordingUse: recordingUse).value
    }

    /// Returns one file of a bundle, cached or opened; `nil` on a miss, and if the bundle has no such file. Never promotes.
    /// Decodes only the chunks that the file touches. The file is named by its ``BundlePart/path``, and the read counts as a
    /// use as in ``read(_:recordingUse:)``.
    ///
    /// ```swift
    /// let page = try await cache.read(guide.key, part: "chapters/1.html")
    /// ```
    ///
    /// - Throws: As ``read(_:recordingUse:)``; ``CacheError/fileSystem(_:)`` with `ESTALE` for a file of an opened bundle that
    ///   has another length now, or is gone.
    public func read(
        _ key: ItemKey, part path: FolderPath, recordingUse: Bool = true
    ) async throws(CacheError) -> Data? {
        try await run(in: .reads) { engine throws(CacheError) in
            try engine.read(key, part: path, isUse: recordingUse)
        }.value ?? nil
    }

    /// Does what ``read(_:range:recordingUse:)`` does, or without a range ``read(_:recordingUse:)``, and returns the reason
    /// for a miss.
    ///
    /// - Throws: As ``read(_:range:recordingUse:)``.
    public func lookUp(
        _ key: ItemKey, range: Range<Int64>? = nil, recordingUse: Bool = true
    ) async throws(CacheError) -> Lookup<Data> {
        let running = try await engine.running()
        let content = running.engine.usage.performIfOpen {
            running.engine.readWithoutWaiting(key, range, isUse: recordingUse)
        }
        if let content {
            running.flushing.noteWork()
            if running.flushing.hasLongBacklog {
                await running.flushing.waitForBacklog()
            } else if lanes.mustGiveWay(at: environment.uptime()) {
                await Task.yield()
            }
            return .hit(content)
        }
        return try await run(in: .reads) { engine throws(CacheError) in
            try engine.read(key, range, isUse: recordingUse)
        }
    }

    /// Hands the content of an item to `sink`, piece by piece, in order and with bounded memory. Never
    /// promotes.
    ///
    /// Cancelling the task has no effect; to stop, throw from `sink`.
    ///
    /// - Parameters:
    ///   - key: The key of an item that is cached or was opened.
    ///   - range: Bytes of content; `nil` for all.
    ///   - recordingUse: As in ``read(_:recordingUse:)``.
    ///   - sink: Called on a thread that may block.
    /// - Returns: A miss when there is no such item; `sink` was not called then.
    /// - Throws: ``CacheError/item(_:)`` when the range exceeds the content or damage was found after pieces
    ///   were handed out, and whatever `sink` throws.
    public func stream(
        _ key: ItemKey, range: Range<Int64>? = nil, recordingUse: Bool = true,
        to sink: @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> Lookup<Void> {
        let lookup = try await run(in: .reads) { engine throws(CacheError) in
            try engine.stream(key, range, isUse: recordingUse, to: sink)
        }
        return try lookup.map { result in try result.get() }
    }

    /// Returns a reader of an item that may not have arrived yet, or only in part: it waits for what is missing.
    ///
    /// ```swift
    /// for try await piece in cache.reader(for: episode.key).pieces() { player.append(piece) }
    /// ```
    ///
    /// While nobody is storing the item, it waits for the time of `patience`, at least half a second: between two attempts
    /// of a download, or until its process is started again.
    public func reader(for key: ItemKey, patience: Duration = .seconds(30)) -> ContentReader {
        // The real clock: tests of readers bring their own.
        ContentReader(key, of: self, patience: patience) { try await Timers.shared.sleep(for: $0) }
    }

    /// Returns what is known about a key; `nil` when it is neither cached nor promoted. Does not count as a use.
    public func status(of key: ItemKey) async throws(CacheError) -> ItemStatus? {
        try await run { engine throws(CacheError) in try engine.status(of: key) }.value
    }

    /// Returns the metadata of a cached item, such as its validator for a conditional request, and the
    /// caller's attributes. `nil` when the key is not cached: a promoted file has no metadata. Does not count
    /// as a use.
    ///
    /// - Complexity: Independent of the length of the content: only the item's footer is read.
    public func metadata(of key: ItemKey) async throws(CacheError) -> ItemMetadata? {
        try await description(of: key)?.metadata
    }

    /// Returns why an opportunistic item would be refused now, as far as that is known before its first byte, and counts
    /// the refusal; `nil` when it may be stored. Evicts nothing.
    ///
    /// - Parameter expectedLength: Bytes of content; without it, the items of the source so far say what to expect.
    package func refusal(
        of metadata: ItemMetadata, expectedLength: Int64?, on terms: AdmissionTerms
    ) async throws(CacheError) -> Refusal? {
        try await run { engine throws(CacheError) in
            try engine.refusal(of: metadata, expectedLength: expectedLength, on: terms)
        }
    }

    /// Hands the content of a cached item to `sink`, as ``stream(_:range:recordingUse:to:)`` does, without counting as a use.
    ///
    /// - Returns: A miss also for a promoted key.
    package func check(
        _ key: ItemKey, with sink: @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> Lookup<Void> {
        let lookup = try await run(in: .reads) { engine throws(CacheError) in
            try engine.stream(key, nil, isUse: false, fromCacheOnly: true, to: sink)
        }
        return try lookup.map { result in try result.get() }
    }

    /// Returns the metadata of a cached item, as ``metadata(of:)`` does, and the length of its content in
    /// bytes.
    package func description(
        of key: ItemKey
    ) async throws(CacheError) -> (metadata: ItemMetadata, contentBytes: Int64)? {
        try await run(in: .reads) { engine throws(CacheError) in try engine.description(of: key) }
    }
}
