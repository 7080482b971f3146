/// What is measured of small items, in the order in which one round does it.
public enum Job: String, CaseIterable, Sendable {
    case store, read, promote
    /// Of the items that were not promoted.
    case evict
}
