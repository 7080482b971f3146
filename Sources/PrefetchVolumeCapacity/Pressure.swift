/// The storage pressure on a volume, in order of severity.
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

/// The thresholds of the pressure levels on one volume, in available bytes.
///
/// The thresholds have hysteresis: a level ends at more available bytes than it begins, so that a volume near a
/// threshold does not oscillate.
public struct PressureThresholds: Hashable, Sendable {
    /// The two thresholds of one level, in available bytes, both at least 0.
    public struct Band: Hashable, Sendable {
        /// The level begins below this.
        public let enter: Int64
        /// The level ends at or above this, once it or a more severe one has begun. If this is less than ``enter``, the
        /// level ends at ``enter``.
        public let leave: Int64

        /// Creates a band from values in bytes.
        public init(enter: Int64, leave: Int64) {
            self.enter = enter
            self.leave = leave
        }

        func isActive(at available: Int64, begun: Bool) -> Bool {
            available < enter || (begun && available < leave)
        }
    }

    /// The thresholds of ``Pressure/elevated``.
    public let elevated: Band
    /// The thresholds of ``Pressure/low``.
    public let low: Band
    /// The thresholds of ``Pressure/critical``.
    public let critical: Band

    /// Creates the thresholds of all levels.
    public init(elevated: Band, low: Band, critical: Band) {
        self.elevated = elevated
        self.low = low
        self.critical = critical
    }

    /// The most severe level that is active with `available` bytes. A level is active below its ``Band/enter``, and, if
    /// `last` was at least as severe, below its ``Band/leave``. For a constant number of bytes the level is stable.
    ///
    /// - Parameter last: The level that this function returned last; initially `normal`.
    public func level(at available: Int64, after last: Pressure) -> Pressure {
        if critical.isActive(at: available, begun: last >= .critical) { return .critical }
        if low.isActive(at: available, begun: last >= .low) { return .low }
        if elevated.isActive(at: available, begun: last >= .elevated) { return .elevated }
        return .normal
    }
}
