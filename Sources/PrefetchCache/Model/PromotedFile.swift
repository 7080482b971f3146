public import ItemFormat
public import StorageAreas
public import SystemPackage

/// A file that an item was promoted to when it was opened. It is the user's, and may have changed since.
public struct PromotedFile: Hashable, Sendable {
    /// The key of the item.
    public let key: ItemKey
    /// The path of the file. Absolute paths change when an app is updated.
    public let path: FilePath
    /// The location of the file, in a form that can be stored.
    public let location: AreaPath
    /// Whether the file is to be part of backups.
    public let backup: BackupPolicy
    /// Bytes of content when the item was handed over.
    public let contentLength: Int64
    /// When the item was first opened, in milliseconds since 1970.
    public let openedAt: Int64
    /// The present length of the file in bytes; `nil` when there is no regular file, or it cannot be
    /// accessed.
    public let presentLength: Int64?
}
