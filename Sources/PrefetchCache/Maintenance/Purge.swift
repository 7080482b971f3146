public import ItemFormat
public import StorageAreas

/// What a purge of excluded files removed, or would remove.
public struct PurgeReport: Hashable, Sendable {
    /// A promoted file that has not been used for long.
    public struct File: Hashable, Sendable {
        /// The key of the item.
        public let key: ItemKey
        /// The location of the file.
        public let location: AreaPath
        /// The length of the file in bytes.
        public let length: Int64
        /// When the file was last used, in milliseconds since 1970.
        public let lastUse: Int64
    }

    /// A file that could not be inspected or removed.
    public struct Failure: Hashable, Sendable {
        /// The key of the item.
        public let key: ItemKey
        /// The location of the file.
        public let location: AreaPath
        /// Why it could not be inspected or removed.
        public let error: CacheError
    }

    /// The files that were removed, or would be.
    public internal(set) var purged: [File] = []
    /// The files that stay because they are not, or no longer, what was handed over: their user has changed or replaced
    /// them, or they were there before with the same content.
    public internal(set) var changed: [File] = []
    /// The files that stay because another key was handed the same file.
    public internal(set) var shared: [File] = []
    /// What could not be inspected or removed.
    public internal(set) var failures: [Failure] = []

    /// The total length in bytes of the files that were removed, or would be.
    public var purgedBytes: Int64 { purged.reduce(0) { $0 + $1.length } }
}
