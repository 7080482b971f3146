internal import Foundation
internal import PrefetchCache

/// What a download needs of a cache. Tests replace it.
protocol DownloadStoring: Sendable {
    /// Changes of the volume's pressure, from now on.
    var pressure: AsyncStream<Pressure> { get }

    /// Why nothing is admitted now, whatever it is; `nil` when it depends on the item. Counts as a refusal of the key.
    func refusal(of key: ItemKey) async throws(CacheError) -> Refusal?

    /// The file that a key was promoted to.
    func promoted(_ key: ItemKey) async throws(CacheError) -> OpenedItem?
    /// The metadata of the cached item of a key, and the length of its content in bytes.
    func description(
        of key: ItemKey
    ) async throws(CacheError) -> (metadata: ItemMetadata, contentLength: Int64)?
    /// Promotes the cached item of a key.
    func open(_ key: ItemKey) async throws(CacheError) -> OpenedItem?
    /// Hands the content of a cached item to `sink`, in pieces and in order. Does not count as a use.
    ///
    /// - Returns: Whether there is one.
    func replay(
        _ key: ItemKey, to sink: @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(CacheError) -> Bool
    func partial(of key: ItemKey) async throws(CacheError) -> PartialItem?

    /// - Parameters:
    ///   - keepingPartial: Whether an interrupted download can be resumed.
    ///   - forgettingPromotion: Whether a key that was opened is stored again, and its record forgotten.
    func begin(
        _ metadata: ItemMetadata, expectedLength: Int64?, keepingPartial: Bool, forgettingPromotion: Bool
    ) async throws(CacheError) -> StoringStart
    /// - Parameter replay: Receives the content of the partial, in pieces and in order.
    func resume(
        _ partial: PartialItem, forgettingPromotion: Bool,
        replay: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    ) async throws(CacheError) -> StoringStart

    func discardPartial(of key: ItemKey) async throws(CacheError)
}

enum StoringStart: Sendable {
    case writer(any ContentWriting)
    case refused(Refusal)
    /// The partial no longer exists.
    case gone
}

/// Takes the content of one item, piece by piece.
protocol ContentWriting: Sendable {
    /// Bytes of content written so far.
    var contentLength: Int64 { get }
    /// - Returns: `nil`, or why there is no more room.
    func write(_ bytes: Data) async throws(CacheError) -> Refusal?
    func commit() async throws(CacheError) -> StoreOutcome
    func cancel() async throws(CacheError)
    /// Ends the writing and keeps what can be resumed.
    ///
    /// - Returns: The bytes of content that are kept.
    func keep() async throws(CacheError) -> Int64
}
