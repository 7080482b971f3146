/// An item that is being stored piece by piece.
///
/// Used by one thread at a time.
protocol StoreUnderWay: AnyObject {
    /// Appends content.
    ///
    /// - Returns: Why the item was refused, or `nil`. After an error nothing is kept, and after a refusal
    ///   only what ``suspend()`` would keep.
    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal?

    /// Appends the last piece and completes the item.
    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome

    /// Ends the store and discards everything it holds.
    func cancel()

    /// Bytes of content taken so far.
    var contentLength: Int64 { get }

    /// Ends the store, and keeps the whole chunks of an item that was begun with `keepingPartial`.
    ///
    /// - Returns: The partial; `nil` when there is nothing to keep, and the item was cancelled.
    func suspend() throws(CacheError) -> PartialItem?

    /// Ends the store without reporting: what can be kept is kept.
    func letGo()
}

extension StoreUnderWay {
    func suspend() throws(CacheError) -> PartialItem? {
        cancel()
        return nil
    }

    func letGo() { cancel() }
}
