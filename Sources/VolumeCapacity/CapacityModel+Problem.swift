extension CapacityModel {
    /// Why this model cannot be used, in one sentence; `nil` when it can.
    public var problem: String? {
        for constant in Self.constants {
            let value = self[keyPath: constant.path]
            if value < constant.range.lowerBound {
                return "\(constant.name) is \(value); it must be at least \(constant.range.lowerBound)"
            }
            if value > constant.range.upperBound {
                return "\(constant.name) is \(value); it must be at most \(constant.range.upperBound)"
            }
        }
        return descending("firstShareEnd", firstShareEnd, "secondShareEnd", secondShareEnd)
            ?? descending(
                "elevatedEnterPerMille", elevatedEnterPerMille,
                "elevatedLeavePerMille", elevatedLeavePerMille)
            ?? descending("lowEnterPerMille", lowEnterPerMille, "lowLeavePerMille", lowLeavePerMille)
            ?? descending(
                "criticalEnterPerMille", criticalEnterPerMille,
                "criticalLeavePerMille", criticalLeavePerMille)
            ?? descending(
                "criticalEnterPerMille", criticalEnterPerMille, "lowEnterPerMille", lowEnterPerMille)
    }

    private func descending(_ one: String, _ first: Int64, _ other: String, _ second: Int64) -> String? {
        second < first ? "\(other) is \(second); it must be at least \(one), which is \(first)" : nil
    }
}
