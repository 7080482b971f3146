/// The counters of the catalog. The raw value is a row's name.
enum Counter: String, CaseIterable, Sendable {
    /// The last number of the order of use.
    case sequence
    case hits, misses, stores, promotions, evictions, evictedBytes

    /// Refusals are counted by reason.
    static let refusalPrefix = "refusal."
}
