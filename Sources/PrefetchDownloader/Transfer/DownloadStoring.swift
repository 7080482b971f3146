internal import Foundation
internal import PrefetchCache

/// What a download needs of a cache, and tests put something else in the place of.
protocol DownloadStoring: Sendable {
    /// Changes of the volume's pressure, from now on.
    var pressure: AsyncStream<Pressure> { get }

    /// The file that a key was promoted to.
    func promoted(_ key: ItemKey) async throws(CacheError) -> OpenedItem?
    /// What the cached item of a key says about itself, and the bytes of its content.
    func description(
        of key: ItemKey
    ) async throws(CacheError) -> (metadata: ItemMetadata, contentLength: Int64)?
    /// Promotes the cached item of a key.
    func open(_ key: ItemKey) async throws(CacheError) -> OpenedItem?
    /// Hands out the content of a cached item, in pieces and in order.
    ///
    /// - Returns: Whether there is one.
    func replay(
        _ key: ItemKey, to sink: @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws(CacheError) -> Bool
    func partial(of key: ItemKey) async throws(CacheError) -> PartialItem?

    /// - Parameters:
    ///   - keepingPartial: Whether what is broken off can be gone on after.
    ///   - forgettingPromotion: Whether a key that was opened is stored again, and the record forgotten.
    func begin(
        _ metadata: ItemMetadata, expectedLength: Int64?, keepingPartial: Bool, forgettingPromotion: Bool
    ) async throws(CacheError) -> StoringStart
    /// - Parameter replay: Is given the content of the partial, in pieces and in order.
    func resume(
        _ partial: PartialItem, forgettingPromotion: Bool,
        replay: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    ) async throws(CacheError) -> StoringStart

    func discardPartial(of key: ItemKey) async throws(CacheError)
}

enum StoringStart: Sendable {
    case writer(any ContentWriting)
    case refused(Refusal)
    /// The partial is not there any more.
    case gone
}

/// Takes the content of one item, piece by piece.
protocol ContentWriting: Sendable {
    /// Bytes of the content that it has.
    var contentLength: Int64 { get }
    /// - Returns: `nil`, or why there is no more room.
    func write(_ bytes: Data) async throws(CacheError) -> Refusal?
    func commit() async throws(CacheError) -> StoreOutcome
    func cancel() async throws(CacheError)
    /// Ends the writing and keeps what can be gone on after.
    ///
    /// - Returns: The bytes that are kept.
    func keep() async throws(CacheError) -> Int64
}
