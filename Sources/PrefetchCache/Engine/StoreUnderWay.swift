/// An item that is being stored piece by piece.
///
/// Used by one thread at a time.
protocol StoreUnderWay: AnyObject {
    /// Appends content.
    /// - Returns: Why the item was refused, or `nil`. After a refusal or an error the item is gone.
    func append(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> Refusal?

    /// Appends the last piece and completes the item.
    func commit(appending last: UnsafeRawBufferPointer) throws(CacheError) -> StoreOutcome

    /// Gives the item up, and all that it holds.
    func cancel()
}
