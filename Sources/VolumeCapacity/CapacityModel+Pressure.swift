extension CapacityModel {
    /// How short of space the volume in `state` is. Only its total and its available bytes are used.
    ///
    /// - Parameter last: The level that this function returned before; `normal` at first.
    public func pressure(of state: VolumeState, after last: Pressure) -> Pressure {
        let state = state.sanitized
        return thresholds(low: low(total: state.total), reserve: reserve(total: state.total))
            .level(at: state.available, after: last)
    }

    func thresholds(low: Int64, reserve: Int64) -> PressureThresholds {
        PressureThresholds(
            elevated: .init(
                enter: reserve.perMille(elevatedEnterPerMille),
                leave: reserve.perMille(elevatedLeavePerMille)),
            low: .init(enter: low.perMille(lowEnterPerMille), leave: low.perMille(lowLeavePerMille)),
            critical: .init(
                enter: low.perMille(criticalEnterPerMille), leave: low.perMille(criticalLeavePerMille)))
    }
}
