public import SystemPackage

/// One of the places where an app may keep files, each with its own ``AreaPromise``.
///
/// Raw values are stored on disk: a value once used keeps its meaning.
public enum Area: UInt8, Sendable, Hashable, CaseIterable {
    /// Documents that the user sees.
    case documents = 1
    /// Files that the app keeps for itself.
    case applicationSupport = 2
    /// Files that can be downloaded again.
    case caches = 3
    /// Files for work under way.
    case temporary = 4
    /// Documents on all devices of the user's account.
    case iCloudDrive = 5

    /// The short name in commands: `documents`, `support`, `caches`, `tmp` or `icloud`.
    public var name: String {
        switch self {
        case .documents: "documents"
        case .applicationSupport: "support"
        case .caches: "caches"
        case .temporary: "tmp"
        case .iCloudDrive: "icloud"
        }
    }

    /// Creates the area with a short name; case matters. Returns `nil` for any other name.
    public init?(name: String) {
        guard let area = Area.allCases.first(where: { $0.name == name }) else { return nil }
        self = area
    }

    /// The name in the platform's own guidelines.
    package var title: String {
        switch self {
        case .documents: "Documents"
        case .applicationSupport: "Application Support"
        case .caches: "Caches"
        case .temporary: "tmp"
        case .iCloudDrive: "iCloud Drive"
        }
    }
}

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

/// The identity of a file: an area and a path in it. No other identity is ever stored.
///
/// On some platforms, the absolute path of an area changes with every update of an app, which
/// invalidates stored absolute paths.
public struct AreaPath: Sendable, Hashable {
    /// The area that the path starts from.
    public let area: Area
    /// The path relative to the area, with at least one component, none of which is `.` or `..`.
    public let relative: FilePath

    /// Creates an identity, dropping `.` from `relative`, so that one file has one identity.
    ///
    /// Returns `nil` for an absolute or empty path and for one with a `..`: folding `a/../b` to `b`
    /// would name a different file from the kernel's where `a` is a symbolic link.
    public init?(area: Area, relative: FilePath) {
        let isConfined = relative.isRelative && !relative.components.contains { $0.kind == .parentDirectory }
        let components = relative.components.filter { $0.kind == .regular }
        guard isConfined, !components.isEmpty else { return nil }
        self.area = area
        self.relative = FilePath(root: nil, components)
    }
}
