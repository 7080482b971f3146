/// What the app and `cachectl` agree on, kept in `configuration.json`.
public struct CacheConfiguration: Hashable, Sendable, Codable {
    /// The budget of a cache that nobody configured: 512 MiB.
    public static let defaultBudget = ByteCount.mebibytes(512)
    static let schemaVersion = 1

    private var schemaVersion: Int? = Self.schemaVersion
    private var budgetBytes: Int64?

    public init(budget: ByteCount? = nil) {
        budgetBytes = budget?.bytes
    }

    /// The most that all items together may be charged; `nil` stands for ``defaultBudget``.
    public var budget: ByteCount? {
        get { budgetBytes.map(ByteCount.bytes) }
        set { budgetBytes = newValue?.bytes }
    }

    var effectiveBudget: Int64 { (budget ?? Self.defaultBudget).bytes }

    /// Why this configuration cannot be used, or `nil`.
    var problem: String? {
        if let schemaVersion, schemaVersion > Self.schemaVersion {
            return "it has version \(schemaVersion), which is newer than \(Self.schemaVersion); "
                + "update the software"
        }
        if let budgetBytes, budgetBytes < 0 {
            return "budgetBytes is \(budgetBytes); it must not be negative"
        }
        return nil
    }
}
