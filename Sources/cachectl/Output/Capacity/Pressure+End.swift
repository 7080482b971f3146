internal import PrefetchCache

extension Pressure {
    /// The meaning of the level; `nil` for the normal level.
    func meaning(_ thresholds: PressureThresholds) -> String? {
        switch self {
        case .normal: nil
        case .elevated: "the reserve is in use; nothing new is admitted"
        case .low:
            "the volume is nearly full; nothing new is admitted, and the coldest items are evicted until "
                + "\(Size.text(thresholds.low.leave)) are available"
        case .critical:
            "the volume is practically full; nothing new is admitted, and everything not pinned is evicted"
        }
    }
}

extension PressureThresholds {
    /// The levels with their thresholds, the mildest first.
    var bands: [(level: Pressure, band: Band)] {
        [(.elevated, elevated), (.low, low), (.critical, critical)]
    }

    /// The available bytes at which a level ends; `nil` for the normal level, which does not end.
    func end(of level: Pressure) -> Int64? {
        bands.first { $0.level == level }.map { $0.band.end }
    }

    /// The level that follows `level` when the available bytes reach its end.
    func successor(of level: Pressure) -> Pressure {
        end(of: level).map { self.level(at: $0, after: level) } ?? .normal
    }
}

extension PressureThresholds.Band {
    /// The available bytes at which the level ends, once begun.
    var end: Int64 { max(enter, leave) }
}
