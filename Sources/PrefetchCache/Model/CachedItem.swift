public import ItemFormat
public import StorageAreas
public import SystemPackage

/// One item of the cache as the catalog lists it.
public struct CachedItem: Hashable, Sendable {
    public let key: ItemKey
    public let source: String
    public let intent: Intent
    public let destination: Destination
    public let encoding: ItemEncoding
    /// Bytes of the original.
    public let contentLength: Int64
    /// Bytes of the file.
    public let storedLength: Int64
    /// Bytes that count against the budget.
    public let chargedLength: Int64
    public let priority: Float
    /// Milliseconds since 1970.
    public let storedAt: Int64
    /// When the item is no longer worth keeping, in milliseconds since 1970; `nil` for never.
    public let expiresAt: Int64?
    /// The position in the order of use: the item with the smallest number is the coldest.
    public let lastUse: Int64

    /// Where the item's file lies.
    public var location: AreaPath { .item(key.hash) }
}

/// A key as the cache knows it.
public enum ItemStatus: Hashable, Sendable {
    case cached(CachedItem)
    /// Opened: a file of the user's.
    case promoted(OpenedItem)
}

/// The file of an item that was opened.
public struct OpenedItem: Hashable, Sendable {
    public let key: ItemKey
    /// Where the file is now. Absolute paths change when an app is updated: keep the key, and open
    /// it again.
    public let path: FilePath
    /// The same place, as it may be stored.
    public let location: AreaPath
    /// The folder of its destination; `nil` for the area's own.
    public let folder: FolderPath?
    /// Bytes of the content when it was handed over.
    public let contentLength: Int64
    /// Whether this call handed the item over; `false` when an earlier one had.
    public let isFirstOpen: Bool
}
