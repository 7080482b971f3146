/// What the platform does with the files of an area, and so what an app may expect.
///
/// The values are those of Apple's storage guidelines. On Linux the system does not purge caches,
/// and ``CacheDirectoryTag`` and ``BackupMark`` stand in for the backup column.
public struct AreaPromise: Sendable, Hashable {
    /// Whether a backup of the device contains the files.
    public enum Backup: Sendable, Hashable {
        /// Backups contain the files.
        case backedUp
        /// Backups do not contain the files.
        case notBackedUp
        /// The files are in the cloud already.
        case uploaded
    }

    /// When the system deletes the files. It never does so while the app runs.
    public enum Purge: Sendable, Hashable {
        /// The system does not delete the files.
        case never
        /// When the volume runs short of space, beginning with apps that have long been idle.
        case whenSpaceIsLow
        /// From time to time.
        case periodically
    }

    /// Whether the user sees the files in a file browser.
    public let isVisibleToUser: Bool
    /// Whether a backup of the device contains the files.
    public let backup: Backup
    /// When the system deletes the files.
    public let purge: Purge
    /// Whether the files count as the app's "Documents & Data" in the settings, or only in the total
    /// for the volume; `nil` where they do not count on the device at all.
    public let isCountedInDocumentsAndData: Bool?
}

extension Area {
    /// What the platform promises for files in this area.
    public var promise: AreaPromise {
        switch self {
        case .documents:
            AreaPromise(
                isVisibleToUser: true, backup: .backedUp, purge: .never, isCountedInDocumentsAndData: true)
        case .applicationSupport:
            AreaPromise(
                isVisibleToUser: false, backup: .backedUp, purge: .never, isCountedInDocumentsAndData: true)
        case .caches:
            AreaPromise(
                isVisibleToUser: false, backup: .notBackedUp, purge: .whenSpaceIsLow,
                isCountedInDocumentsAndData: false)
        case .temporary:
            AreaPromise(
                isVisibleToUser: false, backup: .notBackedUp, purge: .periodically,
                isCountedInDocumentsAndData: false)
        case .iCloudDrive:
            AreaPromise(
                isVisibleToUser: true, backup: .uploaded, purge: .never, isCountedInDocumentsAndData: nil)
        }
    }
}
