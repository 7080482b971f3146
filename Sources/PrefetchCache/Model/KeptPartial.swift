public import ItemFormat
public import StorageAreas

/// A kept partial, as the catalog lists it. ``PrefetchCache/partial(of:)`` returns whether it can be resumed.
public struct KeptPartial: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The feed or server that the item comes from; empty if none was given.
    public let source: String
    /// Where the item would go when opened.
    public let destination: Destination
    /// Bytes of content that are kept, in whole chunks.
    public let contentLength: Int64
    /// Stored bytes: the length of the file of the chunks.
    public let storedLength: Int64
    /// Charged bytes, those of the journal included.
    public let chargedLength: Int64
    /// When the partial was last begun, resumed or suspended, in milliseconds since 1970.
    public let keptAt: Int64
    /// When the partial expires, in milliseconds since 1970.
    public let expiresAt: Int64
}
