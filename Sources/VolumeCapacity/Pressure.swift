/// How short of space a volume is, in order of severity.
public enum Pressure: String, Sendable, Hashable, CaseIterable, Codable, Comparable {
    /// More than the reserve is available.
    case normal
    /// The reserve is in use.
    case elevated
    /// The volume is nearly full.
    case low
    /// The volume is practically full.
    case critical

    private var severity: Int {
        switch self {
        case .normal: 0
        case .elevated: 1
        case .low: 2
        case .critical: 3
        }
    }

    public static func < (one: Pressure, other: Pressure) -> Bool {
        one.severity < other.severity
    }
}
