public import ItemFormat
public import StorageAreas
public import SystemPackage

/// One cached item, as the catalog lists it.
public struct CachedItem: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The feed or server that the item came from; empty if none was given.
    public let source: String
    /// Why the item was stored.
    public let intent: Intent
    /// Where the item goes when it is opened.
    public let destination: Destination
    /// How the content is encoded in the item's file.
    public let encoding: ItemEncoding
    /// Bytes of content.
    public let contentLength: Int64
    /// Stored bytes: the length of the item's file.
    public let storedLength: Int64
    /// Charged bytes, which count against the budget: the stored bytes rounded up to whole blocks, and 512
    /// more.
    public let chargedLength: Int64
    /// The priority, from 0 to 1. Items of lower priority are evicted first.
    public let priority: Float
    /// When the item was stored, in milliseconds since 1970.
    public let storedAt: Int64
    /// When the item expires, in milliseconds since 1970; `nil` for never.
    public let expiresAt: Int64?
    /// The position in the order of use: the item with the smallest number was used the longest ago.
    public let lastUse: Int64

    /// The location of the item's file.
    public var location: AreaPath { .item(key.hash) }
}

/// What the cache knows of a key.
public enum ItemStatus: Hashable, Sendable {
    /// The item is cached.
    case cached(CachedItem)
    /// The item was opened, and its file is the user's.
    case promoted(OpenedItem)
}

/// The file of an item that was opened.
public struct OpenedItem: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The present path of the file. Absolute paths change when an app is updated: keep the key, and open it
    /// again.
    public let path: FilePath
    /// The location of the file, in a form that can be stored.
    public let location: AreaPath
    /// The folder of the destination below its area; `nil` for the area itself.
    public let folder: FolderPath?
    /// Bytes of content when the item was handed over.
    public let contentLength: Int64
    /// Whether this call handed the item over, rather than an earlier one.
    public let isFirstOpen: Bool
}
