public import Foundation
public import PrefetchItemFormat
internal import Synchronization

/// Reads an item while it is stored, by this process or another: bytes that have arrived at once, others as soon as they
/// arrive.
///
/// Until the item is complete, it is read in whole chunks of 1 MiB of content, and only if it was begun with
/// `keepingPartial`, as `PrefetchDownloader` begins what has a strong validator; its end, and any other item, can be read
/// when it is complete. All bytes of a reader are of one version.
///
/// May be used by several tasks.
public struct ContentReader: Sendable {
    /// The key of the item.
    public let key: ItemKey
    private let cache: PrefetchCache
    private let patience: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = Shared()

    private final class Shared: Sendable {
        /// What was read, or is known to come.
        let version = Mutex<ContentVersion?>(nil)
        /// Whether it was counted as a use.
        let isCounted = Atomic(false)
        /// The piece that was read last: most callers go on where they have stopped.
        let piece = Mutex<(offset: Int64, content: Data)>((0, Data()))
    }

    /// The least to read at once: the length of a chunk, which has to be read and verified as a whole.
    private static let pieceLength = 1 << 20
    /// How long to wait between two looks: twice as long each time.
    private static let pauses: ClosedRange<Duration> = .milliseconds(10)...Duration.milliseconds(160)
    /// After how much waiting to look whether somebody is storing the item.
    private static let attention = Duration.milliseconds(500)

    init(
        _ key: ItemKey, of cache: PrefetchCache, patience: Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.key = key
        self.cache = cache
        self.patience = patience
        self.sleep = sleep
    }

    /// Returns the length of the whole content in bytes. Waits until it is known: that of an item that is being stored may
    /// be announced, or else is known when it is complete.
    ///
    /// - Throws: As ``read(from:upTo:)``.
    public func length() async throws(CacheError) -> Int64 {
        try await wait { cache throws(CacheError) in
            _ = try await look(at: 0, upTo: 0, in: cache)
            return state.version.withLock { $0?.length }
        }
    }

    /// Returns the bytes from an offset on, as far as they are there. Waits for the first one.
    ///
    /// - Parameters:
    ///   - offset: In bytes of content.
    ///   - limit: The most bytes to return, at least 1.
    /// - Returns: At least one byte, or none at the end of the content. What one call does not return of a chunk is kept in
    ///   memory for the next.
    /// - Throws: ``CacheError/notArriving(_:)`` when nobody has been storing the item for the reader's patience,
    ///   ``CacheError/otherVersion(_:)`` when the item was replaced since the first call, ``CacheError/item(_:)`` with
    ///   `rangeOutOfBounds` for an offset past the end, ``CacheError/cancelled`` when the task is cancelled, and
    ///   ``CacheError/fileSystem(_:)``.
    public func read(from offset: Int64, upTo limit: Int = 1 << 20) async throws(CacheError) -> Data {
        let limit = max(1, limit)
        if let known = known(from: offset, upTo: limit) { return known }
        let content = try await wait { cache throws(CacheError) in
            try await look(at: offset, upTo: max(limit, Self.pieceLength), in: cache)
        }
        guard content.count > limit else { return content }
        state.piece.withLock { $0 = (offset, content) }
        return Data(content.prefix(limit))
    }

    /// Bytes of the piece that was read last; `nil` if it does not have that at the offset.
    private func known(from offset: Int64, upTo limit: Int) -> Data? {
        state.piece.withLock { piece in
            let present = piece.offset..<piece.offset + Int64(piece.content.count)
            guard present.contains(offset) else { return nil }
            return Data(piece.content.dropFirst(Int(offset - piece.offset)).prefix(limit))
        }
    }

    /// Returns a range of the content, in bytes. Waits until all of it has arrived.
    ///
    /// - Throws: As ``read(from:upTo:)``; also for a range that ends past the end of the content.
    public func read(_ range: Range<Int64>) async throws(CacheError) -> Data {
        var content = Data()
        while content.count < range.count {
            let offset = range.lowerBound + Int64(content.count)
            let more = try await read(from: offset, upTo: range.count - content.count)
            guard !more.isEmpty else { throw .item(.rangeOutOfBounds(range, contentBytes: offset)) }
            content += more
        }
        return content
    }

    /// The content from an offset to its end, piece by piece, each as soon as it arrives.
    public func pieces(from offset: Int64 = 0) -> Pieces { Pieces(reader: self, offset: offset) }

    /// The pieces of an item's content, in order.
    public struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
        fileprivate let reader: ContentReader
        fileprivate var offset: Int64

        public func makeAsyncIterator() -> Pieces { self }

        /// - Returns: `nil` at the end of the content.
        /// - Throws: As ``ContentReader/read(from:upTo:)``.
        public mutating func next() async throws(CacheError) -> Data? {
            let piece = try await reader.read(from: offset)
            offset += Int64(piece.count)
            return piece.isEmpty ? nil : piece
        }

        public mutating func next(isolation: isolated (any Actor)?) async throws(CacheError) -> Data? {
            try await next()
        }
    }

    /// Looks for the bytes at an offset.
    ///
    /// - Returns: `nil` if they have not arrived.
    private func look(at offset: Int64, upTo limit: Int, in cache: PrefetchCache) async throws(CacheError)
        -> Data?
    {
        let isUse = limit > 0 && !state.isCounted.load(ordering: .relaxed)
        let known = state.version.withLock(\.self)
        let arrival = try await cache.run(in: .reads) { [key] engine throws(CacheError) in
            try engine.arrival(of: key, from: offset, upTo: limit, isUse: isUse, as: known)
        }
        switch arrival {
        case .awaited(let arrived):
            if let arrived { try note(arrived) }
            return nil
        case .present(let data, let version, let isComplete):
            try note(version)
            if isUse, isComplete { state.isCounted.store(true, ordering: .relaxed) }
            return data
        }
    }

    private func note(_ version: ContentVersion) throws(CacheError) {
        let isSame = state.version.withLock { known in
            guard known?.canBe(version) ?? true else { return false }
            if known?.length == nil { known = version }
            return true
        }
        guard isSame else { throw .otherVersion(key) }
    }

    /// Looks again and again, until there is a result or nobody is storing the item.
    private func wait<Result>(
        for look: (PrefetchCache) async throws(CacheError) -> Result?
    ) async throws(CacheError) -> Result {
        var pause = Self.pauses.lowerBound
        // How long it was not looked for whoever stores it, and how long nobody was found.
        var (unattended, abandoned) = (Duration.zero, Duration.zero)
        while true {
            if Task.isCancelled { throw .cancelled }
            if let result = try await look(cache) { return result }
            if unattended >= Self.attention {
                let isUnderWay = try await cache.run(in: .reads) { [key] engine throws(CacheError) in
                    try engine.isUnderWay(key)
                }
                // Since the last look it may have been completed.
                if !isUnderWay, let result = try await look(cache) { return result }
                abandoned = isUnderWay ? .zero : abandoned + unattended
                if !isUnderWay, abandoned >= patience { throw .notArriving(key) }
                unattended = .zero
            }
            do {
                // Nothing tells of the chunks that another process stores.
                try await sleep(pause)
            } catch {
                throw .cancelled
            }
            unattended += pause
            pause = min(pause * 2, Self.pauses.upperBound)
        }
    }
}
