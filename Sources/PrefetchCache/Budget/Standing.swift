internal import VolumeCapacity

/// What follows from the volume's free space and the configuration at one moment.
struct Standing: Sendable {
    let configuration: CacheConfiguration
    let capacity: Capacity
    let pressure: Pressure
    /// The budget in force, in bytes.
    let budget: Int64
    let unreleased: Unreleased

    /// The most that may be charged with what is stored now, in bytes: the budget, or what the volume can spare
    /// if that is less, as under a fixed budget on a nearly full volume.
    var ceiling: Int64 { min(budget, max(0, capacity.room - unreleased.bytes)) }

    /// What the cache is trimmed to, in bytes: the ceiling, but not for want of what it has given up already.
    var limit: Int64 { min(budget, capacity.room) }

    var largestItem: Int64 { configuration.largestItemBytes(in: budget) }

    /// Returns why an item that is charged `bytes` is not admitted, regardless of what else is in the cache;
    /// `nil` if it may be.
    func refusal(ofItem bytes: Int64) -> Refusal? {
        if let refusal = Self.refusal(configuration, pressure) { return refusal }
        // Without any budget, no size would do.
        guard bytes > largestItem, budget > 0 else { return nil }
        return .largerThanLargestItem(needed: bytes, largest: largestItem)
    }

    /// Returns why nothing is admitted, or `nil`.
    static func refusal(_ configuration: CacheConfiguration, _ pressure: Pressure) -> Refusal? {
        if !configuration.isStoringEnabled { return .disabled }
        return pressure > .normal ? .pressure(pressure) : nil
    }
}
