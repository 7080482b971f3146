public import ItemFormat
public import StorageAreas
public import VolumeCapacity

/// Something that happened to the cache, in this process.
public enum CacheEvent: Hashable, Sendable {
    case stored(ItemKey, ItemSummary)
    case refused(ItemKey, Refusal)
    case evicted(ItemKey, chargedBytes: Int64)
    case promoted(ItemKey, AreaPath)
    /// The item's file did not hold what was stored. It was set aside, and the read was a miss.
    case quarantined(ItemKey, ItemFormatError)
    /// The system took the item, wholly or in part.
    case purged(ItemKey)
    /// The item was written by a newer version of this package, and was left alone.
    case newerFormat(ItemKey, version: UInt16)
    /// The volume's level of pressure has changed. At `critical` the cache has given up all that was not
    /// pinned or open: this is the time to free what the app itself can do without.
    case pressure(Pressure)
    /// The catalog was missing or damaged, and was made anew from the items.
    case catalogRebuilt(items: Int)
}
