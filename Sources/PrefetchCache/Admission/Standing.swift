internal import VolumeCapacity

/// What was made of the volume's free space and the configuration, at one look.
struct Standing: Sendable {
    let configuration: CacheConfiguration
    let capacity: Capacity
    let pressure: Pressure
    /// The budget in force, in bytes.
    let budget: Int64

    /// What all that counts may be charged now: the budget, or what the volume can spare when that is
    /// less, as under a fixed budget on a volume that is nearly full.
    var ceiling: Int64 { min(budget, capacity.room) }

    var largestItem: Int64 { configuration.largestItemBytes(in: budget) }

    /// Why an item that is charged `bytes` is not admitted, whatever else there is in the cache.
    func refusal(ofItem bytes: Int64) -> Refusal? {
        if let refusal = Self.refusal(configuration, pressure) { return refusal }
        // With no budget at all, no size would do.
        guard bytes > largestItem, budget > 0 else { return nil }
        return .largerThanLargestItem(needed: bytes, largest: largestItem)
    }

    /// Why nothing is admitted.
    static func refusal(_ configuration: CacheConfiguration, _ pressure: Pressure) -> Refusal? {
        if !configuration.isStoringEnabled { return .disabled }
        return pressure > .normal ? .pressure(pressure) : nil
    }
}
