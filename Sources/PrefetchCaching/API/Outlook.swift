/// What the cache has learnt about a source from the history of all processes.
public struct SourceOutlook: Hashable, Sendable {
    /// The feed or server; empty for items without one.
    public let source: String
    /// The probability that an item of the source is opened, between 0 and 1.
    public let openRate: Double
    /// Bytes of content of one item, on average.
    public let meanBytes: Int64
    /// Whether so little is opened, for the space and the bytes that it takes, that a downloader's gate keeps it out.
    public let isPaused: Bool
}

/// What is known about the sources, and about the time between storing and opening.
public struct Outlook: Hashable, Sendable {
    /// Half of the items that are opened are opened within so many seconds, about.
    public let usualAge: Double
    /// The sources of which enough is known, by name.
    public let sources: [SourceOutlook]
}

/// When an item would be evicted, and why.
public struct EvictionOutlook: Hashable, Sendable {
    /// The item.
    public let item: CachedItem
    /// The policy in force.
    public let policy: EvictionPolicyChoice
    /// The number of files that would be evicted before the item if everything had to go now; counted up to about 10,000.
    public let filesBefore: Int
    /// The charged bytes of these files.
    public let bytesBefore: Int64
    /// Whether there are more files before the item than were counted.
    public let isFarBack: Bool
    /// Bytes that may still be stored before anything is evicted.
    public let freeBytes: Int64
    /// Whether the item is being read or opened, or is pinned, and stays as long as that lasts.
    public let isLeased: Bool
    /// The probability that the item is opened still, from 0 to 1, according to what is known about its source.
    public let chance: Double
    /// What is known about the source; `nil` if that is too little, and what is known about all sources counts.
    public let source: SourceOutlook?
}
