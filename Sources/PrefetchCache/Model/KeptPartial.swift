public import ItemFormat
public import StorageAreas

/// What is kept of an item that was broken off, as the catalog lists it. ``PrefetchCache/partial(of:)`` tells
/// whether it can be gone on with.
public struct KeptPartial: Hashable, Sendable {
    public let key: ItemKey
    public let source: String
    public let destination: Destination
    /// Bytes of content that are kept, in whole chunks.
    public let contentLength: Int64
    /// Bytes of the file of the chunks.
    public let storedLength: Int64
    /// Bytes that count against the budget, those of the journal among them.
    public let chargedLength: Int64
    /// When it was begun, resumed or suspended last, in milliseconds since 1970.
    public let keptAt: Int64
    /// When it is no longer worth keeping, in milliseconds since 1970.
    public let expiresAt: Int64
}
