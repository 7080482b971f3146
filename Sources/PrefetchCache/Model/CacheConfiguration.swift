public import VolumeCapacity

/// The settings that the app and `cachectl` share, kept in `configuration.json`.
public struct CacheConfiguration: Hashable, Sendable {
    /// The most charged bytes that all files of the cache may take together.
    public enum Budget: Hashable, Sendable {
        /// As much as the volume can spare, see ``CapacityModel``. The default.
        case automatic
        /// As much as the volume can spare, and at most this.
        case automaticUpTo(ByteCount)
        /// This many bytes, whatever the size of the volume. Nothing is stored, however, when that would
        /// leave the volume short of space.
        case fixed(ByteCount)
    }

    /// The budget of the cache.
    public var budget = Budget.automatic
    /// The most charged bytes that one item may take; `nil` stands for half the budget.
    public var largestItem: ByteCount?
    /// Whether new items are stored. Items that are cached can be read and opened in any case.
    public var isStoringEnabled = true
    /// Which items are evicted first when space is needed.
    public var evictionPolicy = EvictionPolicyChoice.lru
    /// The constants by which a volume is judged.
    public var capacityModel = CapacityModel()

    /// Creates a configuration with a budget, and the defaults for everything else.
    public init(budget: Budget = .automatic) {
        self.budget = budget
    }

    /// The reason why this configuration cannot be used, or `nil`.
    var problem: String? { capacityModel.problem.map { "capacityModel: \($0)" } }

    /// The most charged bytes that an item may take under a budget of `budget` bytes.
    func largestItemBytes(in budget: Int64) -> Int64 {
        min(budget, largestItem?.bytes ?? budget / 2)
    }
}
