public import ItemFormat

/// How far the content of an item has come on its way to its destination.
public struct OpenProgress: Hashable, Sendable {
    public let key: ItemKey
    /// Bytes of content that were decoded, copied or verified.
    public let completedBytes: Int64
    /// Bytes of content in all.
    public let totalBytes: Int64

    public init(key: ItemKey, completedBytes: Int64, totalBytes: Int64) {
        self.key = key
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}
