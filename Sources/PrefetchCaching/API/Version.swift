internal import PrefetchItemFormat

extension PrefetchCache {
    /// The version of this package, by [Semantic Versioning](https://semver.org/spec/v2.0.0.html).
    public static let version = "1.0.0"

    /// The newest version of each format that this package writes. It reads these and all older ones.
    package static let formatVersions: [(format: String, version: Int)] = [
        ("item", Int(ItemFooter.version)), ("partial item", Int(PartialJournal.version)),
        ("record", RecordSchema.version), ("catalog", CatalogSchema.version),
        ("configuration", CacheConfiguration.schemaVersion),
    ]
}
