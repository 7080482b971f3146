public import ItemFormat
public import StorageAreas
public import VolumeCapacity

/// Something that happened to the cache in this process.
public enum CacheEvent: Hashable, Sendable {
    /// An item was stored.
    case stored(ItemKey, ItemSummary)
    /// An item was not stored, and why.
    case refused(ItemKey, Refusal)
    /// An item was evicted, which freed this many charged bytes.
    case evicted(ItemKey, chargedBytes: Int64)
    /// An item had expired when it was asked for, and was removed. One that maintenance finds expired is
    /// ``evicted(_:chargedBytes:)``.
    case expired(ItemKey)
    /// An item was removed by ``PrefetchCache/remove(_:)``.
    case removed(ItemKey)
    /// An item was handed over to the user, as a file at this location.
    case promoted(ItemKey, AreaPath)
    /// The record of a promotion was dropped; the file stays. The key may be stored again.
    case forgotten(ItemKey)
    /// The item's file did not hold what was stored. It was moved to the quarantine, and the read was a miss.
    case quarantined(ItemKey, ItemFormatError)
    /// The system purged the item, wholly or in part.
    case purged(ItemKey)
    /// The item was written by a newer version of this package and was left alone.
    case newerFormat(ItemKey, version: UInt16)
    /// The volume's level of pressure changed. At `critical` the cache has evicted everything that was
    /// neither pinned nor open: this is the time for the app to free what it can do without.
    case pressure(Pressure)
    /// The catalog was missing or damaged, and was rebuilt from the items, of which there is at least one.
    case catalogRebuilt(items: Int)
    /// This listener fell behind, and at this place so many events are missing. What they would have told it has
    /// to be looked up.
    case eventsLost(Int)
}
