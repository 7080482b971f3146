package import SystemPackage

/// One of the locations where an app can store files, each with its own ``AreaPromise``.
///
/// Raw values are stored on disk and never change meaning.
public enum Area: UInt8, Sendable, Hashable, CaseIterable {
    /// Documents visible to the user.
    case documents = 1
    /// Files for the app's internal use.
    case applicationSupport = 2
    /// Files that can be downloaded again.
    case caches = 3
    /// Files for work in progress.
    case temporary = 4
    /// Documents synced to all devices of the user's account.
    case iCloudDrive = 5

    /// The name on the command line: `documents`, `support`, `caches`, `tmp` or `icloud`.
    public var name: String {
        switch self {
        case .documents: "documents"
        case .applicationSupport: "support"
        case .caches: "caches"
        case .temporary: "tmp"
        case .iCloudDrive: "icloud"
        }
    }

    /// Creates the area with a ``name``, which is case-sensitive. Returns `nil` for an unknown name.
    public init?(name: String) {
        guard let area = Area.allCases.first(where: { $0.name == name }) else { return nil }
        self = area
    }

    /// The name in the platform's guidelines.
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

/// What an app can expect the platform to do with the files of an area.
///
/// The values are those of Apple's storage guidelines. On Linux the system does not purge caches, and backups depend
/// instead on the file `CACHEDIR.TAG` in a folder, and on the “do not back up” marks of files.
public struct AreaPromise: Sendable, Hashable {
    /// Whether device backups contain the files.
    public enum Backup: Sendable, Hashable {
        /// Backups contain the files.
        case backedUp
        /// Backups do not contain the files.
        case notBackedUp
        /// The files are stored in the cloud.
        case uploaded
    }

    /// When the system deletes the files. It never does so while the app is running.
    public enum Purge: Sendable, Hashable {
        /// The system does not delete the files.
        case never
        /// When the volume runs low on space, starting with apps that have not been used recently.
        case whenSpaceIsLow
        /// From time to time.
        case periodically
    }

    /// Whether the files are visible to the user in a file browser.
    public let isVisibleToUser: Bool
    /// Whether device backups contain the files.
    public let backup: Backup
    /// When the system deletes the files.
    public let purge: Purge
    /// Whether the settings count the files as the app's "Documents & Data", or only in the total for the volume; `nil`
    /// if they are not counted on the device.
    public let isCountedInDocumentsAndData: Bool?
}

extension Area {
    /// What the platform guarantees for files in this area.
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

/// The identity of a file: an area and a path relative to it. This is the only form in which paths are stored.
///
/// On some platforms, the absolute path of an area changes with every update of an app, which invalidates stored
/// absolute paths.
public struct AreaPath: Sendable, Hashable {
    /// The area that the path starts from.
    public let area: Area
    /// The path relative to the area, with at least one component, none of which is `.` or `..`.
    package let relative: FilePath

    /// The path relative to the area, such as `Podcasts/Episode 42.mp3`.
    public var path: String { relative.string }

    /// Creates an identity from a stored ``path``, dropping `.` components; `nil` for a path that is absolute, empty or
    /// contains `..`.
    public init?(area: Area, path: String) {
        self.init(area: area, relative: FilePath(path))
    }

    /// Creates an identity, dropping `.` components from `relative`, so that a file has only one identity.
    ///
    /// Returns `nil` for a path that is absolute, empty or contains `..`: collapsing `a/../b` to `b` would refer to a
    /// different file if `a` is a symbolic link.
    package init?(area: Area, relative: FilePath) {
        guard relative.isRelative else { return nil }
        var isRegular = true
        for component in relative.components {
            switch component.kind {
            case .parentDirectory: return nil
            case .currentDirectory: isRegular = false
            case .regular: break
            }
        }
        self.relative =
            isRegular ? relative : FilePath(root: nil, relative.components.filter { $0.kind == .regular })
        guard !self.relative.isEmpty else { return nil }
        self.area = area
    }
}
