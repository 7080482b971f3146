/// Where an item is moved when it is opened.
///
/// ```swift
/// let destination = Destination.documents("Episode 42.mp3", in: "Podcasts/Daily")
/// ```
public struct Destination: Sendable, Hashable {
    /// ``Area/documents``, ``Area/applicationSupport`` or ``Area/iCloudDrive``.
    public let area: Area
    /// The folder below the area, created if missing; `nil` for the area's own folder.
    public let folder: FolderPath?
    /// The name of the file.
    public let name: FileName
    /// Whether backups should contain the file.
    public let backup: BackupPolicy

    /// Creates a destination. Returns `nil` for ``Area/caches`` and ``Area/temporary``, which the system
    /// purges, and for ``Area/iCloudDrive`` with ``BackupPolicy/exclude``: everything there is uploaded.
    public init?(
        area: Area, name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy = .include
    ) {
        switch area {
        case .documents: self = .documents(name, in: folder, backup: backup)
        case .applicationSupport: self = .applicationSupport(name, in: folder, backup: backup)
        case .iCloudDrive where backup == .include: self = .iCloudDrive(name, in: folder)
        case .caches, .temporary, .iCloudDrive: return nil
        }
    }

    private init(_ area: Area, _ name: FileName, _ folder: FolderPath?, _ backup: BackupPolicy) {
        self.area = area
        self.folder = folder
        self.name = name
        self.backup = backup
    }

    /// A document that the user sees under this name.
    public static func documents(
        _ name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy = .include
    ) -> Destination {
        Destination(.documents, name, folder, backup)
    }

    /// A file that the app keeps for itself.
    public static func applicationSupport(
        _ name: FileName, in folder: FolderPath? = nil, backup: BackupPolicy = .include
    ) -> Destination {
        Destination(.applicationSupport, name, folder, backup)
    }

    /// A document that the user sees on all devices of the account. It is uploaded, so there is no
    /// ``BackupPolicy`` to choose.
    ///
    /// If the user has no account when the item is opened, the open fails and the item stays cached.
    public static func iCloudDrive(_ name: FileName, in folder: FolderPath? = nil) -> Destination {
        Destination(.iCloudDrive, name, folder, .include)
    }
}
