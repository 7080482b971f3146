public import ItemFormat

/// How far the opening of an item has come.
public struct OpenProgress: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// Bytes of content that were decoded, copied or verified.
    public let completedBytes: Int64
    /// Bytes of content in all.
    public let totalBytes: Int64

    /// Creates a progress from its parts.
    public init(key: ItemKey, completedBytes: Int64, totalBytes: Int64) {
        self.key = key
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}
