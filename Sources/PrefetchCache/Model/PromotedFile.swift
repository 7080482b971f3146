public import ItemFormat
public import StorageAreas
public import SystemPackage

/// A file that an item became when it was opened. It is its user's, and may be anything by now.
public struct PromotedFile: Hashable, Sendable {
    public let key: ItemKey
    /// Where the file was put. Absolute paths change when an app is updated.
    public let path: FilePath
    /// The same place, as it may be stored.
    public let location: AreaPath
    public let backup: BackupPolicy
    /// Bytes of the content when it was handed over.
    public let contentLength: Int64
    /// When it was opened first, in milliseconds since 1970.
    public let openedAt: Int64
    /// Bytes of the regular file that is in its place now; `nil` when there is none, or nobody may look.
    public let presentLength: Int64?
}
