/// The space that the cached items of one source take.
public struct SourceUsage: Hashable, Sendable {
    /// The feed or server; empty for items without one.
    public let source: String
    /// The number of items.
    public let items: Int
    /// Bytes of content.
    public let contentBytes: Int64
    /// Stored bytes: the lengths of the items' files.
    public let storedBytes: Int64
    /// Charged bytes, which count against the budget.
    public let chargedBytes: Int64
}
