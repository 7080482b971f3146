public import VolumeCapacity

/// What the app and `cachectl` agree on, kept in `configuration.json`.
public struct CacheConfiguration: Hashable, Sendable {
    /// The most that all files of the cache together may be charged.
    public enum Budget: Hashable, Sendable {
        /// What the volume can spare, see ``CapacityModel``.
        case automatic
        /// What the volume can spare, and never more than this.
        case automaticUpTo(ByteCount)
        /// As many bytes, however large the volume is. Nothing is stored all the same when that would
        /// leave the volume short of space.
        case fixed(ByteCount)
    }

    public var budget = Budget.automatic
    /// The most that one item may be charged; `nil` stands for half the budget.
    public var largestItem: ByteCount?
    /// Whether anything new is stored. What there is can be read and opened all the same.
    public var isStoringEnabled = true
    /// Who goes when space is needed.
    public var evictionPolicy = EvictionPolicyChoice.lru
    /// The constants by which a volume is judged.
    public var capacityModel = CapacityModel()

    public init(budget: Budget = .automatic) {
        self.budget = budget
    }

    /// Why this configuration cannot be used, or `nil`.
    var problem: String? { capacityModel.problem.map { "capacityModel: \($0)" } }

    /// Bytes that an item may be charged at most under a budget of `budget` bytes.
    func largestItemBytes(in budget: Int64) -> Int64 {
        min(budget, largestItem?.bytes ?? budget / 2)
    }
}
