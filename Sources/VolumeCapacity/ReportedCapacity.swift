/// The room on a volume as the system itself reports it. Only a value greater than 0 counts: 0, a
/// negative value and `nil` all mean "unknown".
///
/// Source: `volumeAvailableCapacityForImportantUsage` and `…ForOpportunisticUsage` of Apple's
/// `URLResourceValues`, which are 0 on exFAT, NTFS, SMB and at the login window.
public struct ReportedCapacity: Hashable, Sendable {
    /// Bytes for data that the user asked for or the app needs, including what the system would purge for it.
    public var important: Int64?
    /// Bytes for data that the user has not asked for.
    public var opportunistic: Int64?

    /// Creates a report from values in bytes.
    public init(important: Int64? = nil, opportunistic: Int64? = nil) {
        self.important = important
        self.opportunistic = opportunistic
    }

    /// The known values, none of them more than `total`; `nil` when none is known.
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
