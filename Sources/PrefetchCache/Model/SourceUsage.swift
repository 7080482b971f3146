/// What the cached items of one source take.
public struct SourceUsage: Hashable, Sendable {
    /// The feed or server; empty for items that named none.
    public let source: String
    public let items: Int
    /// Bytes of the originals.
    public let contentBytes: Int64
    /// Bytes of the items' files.
    public let storedBytes: Int64
    /// Bytes that count against the budget.
    public let chargedBytes: Int64
}
