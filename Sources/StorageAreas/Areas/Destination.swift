/// Where an item goes when it is opened.
///
/// ```swift
/// let destination = Destination.documents("Episode 42.mp3", in: "Podcasts/Daily")
/// ```
public struct Destination: Sendable, Hashable {
    /// ``Area/documents``, ``Area/applicationSupport`` or ``Area/iCloudDrive``.
    public let area: Area
    /// The folder below the area that the file goes to, made when it is missing; `nil` for the area's
    /// own.
    public let folder: FolderPath?
    public let name: FileName
    public let backup: BackupPolicy

    /// Returns `nil` for an area that cannot keep what was opened: the system purges ``Area/caches``
    /// and ``Area/temporary``. Also for ``Area/iCloudDrive`` with ``BackupPolicy/exclude``: what is there
    /// is uploaded, and nothing is left out.
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

    /// A document that its user meets under this name.
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

    /// A document that its user meets on all devices of the account. It is uploaded, and so there is no
    /// choice of a ``BackupPolicy``.
    ///
    /// The user may have no account when the item is opened: that is an error of the open, and the item
    /// stays cached.
    public static func iCloudDrive(_ name: FileName, in folder: FolderPath? = nil) -> Destination {
        Destination(.iCloudDrive, name, folder, .include)
    }
}
