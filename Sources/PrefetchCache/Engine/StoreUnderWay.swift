/// An item that is being stored piece by piece.
///
/// Used by one thread at a time.
protocol StoreUnderWay: AnyObject {
    /// Appends content.
    /// - Returns: Why the item was refused, or `nil`. After an error the item is gone, and after a refusal what
    ///   cannot be kept of it.
    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal?

    /// Appends the last piece and completes the item.
    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome

    /// Gives the item up, and all that it holds.
    func cancel()

    /// Bytes of content taken so far.
    var contentLength: Int64 { get }

    /// Ends the store, and keeps the whole chunks of an item that was begun so.
    /// - Returns: What is kept; `nil` when there is nothing, and the item was given up.
    func suspend() throws(CacheError) -> PartialItem?

    /// Ends the store when nobody is there to be told: what can be kept is kept.
    func letGo()
}

extension StoreUnderWay {
    func suspend() throws(CacheError) -> PartialItem? {
        cancel()
        return nil
    }

    func letGo() { cancel() }
}
