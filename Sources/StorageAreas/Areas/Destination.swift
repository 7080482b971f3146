/// Where an item goes when it is opened.
public struct Destination: Sendable, Hashable {
    /// ``Area/documents`` or ``Area/applicationSupport``.
    public let area: Area
    public let name: FileName
    public let backup: BackupPolicy

    /// Returns `nil` for an area that cannot keep what was opened: the system purges ``Area/caches``
    /// and ``Area/temporary``, and ``Area/iCloudDrive`` has no path of its own.
    public init?(area: Area, name: FileName, backup: BackupPolicy = .include) {
        switch area {
        case .documents: self = .documents(name, backup: backup)
        case .applicationSupport: self = .applicationSupport(name, backup: backup)
        case .caches, .temporary, .iCloudDrive: return nil
        }
    }

    private init(_ area: Area, _ name: FileName, _ backup: BackupPolicy) {
        self.area = area
        self.name = name
        self.backup = backup
    }

    /// A document that its user meets under this name.
    public static func documents(_ name: FileName, backup: BackupPolicy = .include) -> Destination {
        Destination(.documents, name, backup)
    }

    /// A file that the app keeps for itself.
    public static func applicationSupport(_ name: FileName, backup: BackupPolicy = .include) -> Destination {
        Destination(.applicationSupport, name, backup)
    }
}
