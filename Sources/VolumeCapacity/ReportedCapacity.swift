/// What the system itself says about the room on a volume. Only a value greater than 0 counts: 0, a
/// negative value and `nil` all mean "unknown".
///
/// Source: `volumeAvailableCapacityForImportantUsage` and `…ForOpportunisticUsage` of Apple's
/// `URLResourceValues`, which are 0 on exFAT, NTFS, SMB and at the login window.
public struct ReportedCapacity: Hashable, Sendable {
    /// Bytes for what the user asked for or the app needs, counting what the system would purge for it.
    public var important: Int64?
    /// Bytes for what the user has not asked for.
    public var opportunistic: Int64?

    public init(important: Int64? = nil, opportunistic: Int64? = nil) {
        self.important = important
        self.opportunistic = opportunistic
    }

    /// Only what is known, and none of it more than `total`; `nil` when nothing is known.
    func sanitized(total: Int64) -> ReportedCapacity? {
        let known = ReportedCapacity(
            important: important.flatMap { Self.known($0, total) },
            opportunistic: opportunistic.flatMap { Self.known($0, total) })
        return known == ReportedCapacity() ? nil : known
    }

    private static func known(_ value: Int64, _ total: Int64) -> Int64? {
        let bounded = min(value, total)
        return bounded > 0 ? bounded : nil
    }
}
