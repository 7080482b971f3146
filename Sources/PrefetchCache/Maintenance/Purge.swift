public import ItemFormat
public import StorageAreas

/// What a purge of excluded files did, or would do.
public struct PurgeReport: Hashable, Sendable {
    /// A promoted file that nobody has used for long.
    public struct File: Hashable, Sendable {
        public let key: ItemKey
        public let location: AreaPath
        /// Bytes.
        public let length: Int64
        /// Milliseconds since 1970.
        public let lastUse: Int64
    }

    /// What is gone, or would go.
    public internal(set) var purged: [File] = []
    /// What stays because it is no longer what was handed over.
    public internal(set) var changed: [File] = []

    /// Bytes of the files that are gone, or would go.
    public var purgedBytes: Int64 { purged.reduce(0) { $0 + $1.length } }
}
