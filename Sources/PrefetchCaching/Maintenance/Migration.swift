public import PrefetchItemFormat
public import PrefetchStorageAreas
public import SystemPackage

/// Which folder of files to import into the cache, and as what.
public struct MigrationRequest: Hashable, Sendable {
    /// What the files become.
    public enum Role: Hashable, Sendable {
        /// Items that can be downloaded again, and that go to the area when they are opened. They are
        /// compressed, and count against the budget.
        case cached(to: Area)
        /// The user's files in an area, as if they had been opened.
        case promoted(to: Area)
    }

    /// The folder, which is not part of the cache. Symbolic links below it are not followed.
    public var folder: FilePath
    /// What the files become.
    public var role: Role
    /// The feed or server that the items come from; empty if there is none.
    public var source: String
    /// The start of every key. A file's key is this prefix followed by its path below the folder.
    public var keyPrefix: String
    /// Whether the files are to be part of backups once they are promoted.
    public var backup: BackupPolicy

    /// Creates a request for a folder. Where `backup` is `nil`, it becomes ``BackupPolicy/exclude`` if the files can be
    /// downloaded again and do not go to iCloud Drive, and ``BackupPolicy/include`` otherwise.
    public init(
        of folder: FilePath, as role: Role, source: String = "", keyPrefix: String = "",
        backup: BackupPolicy? = nil
    ) {
        self.folder = folder
        self.role = role
        self.source = source
        self.keyPrefix = keyPrefix
        self.backup =
            backup
            ?? {
                switch role {
                case .cached(.iCloudDrive), .promoted: .include
                case .cached: .exclude
                }
            }()
    }

    var area: Area {
        switch role {
        case .cached(let area), .promoted(let area): area
        }
    }
}

/// The outcome for one file, actual or, in a dry run, predicted.
public struct MigratedFile: Hashable, Sendable {
    /// What became of a file.
    public enum Outcome: Hashable, Sendable {
        /// It became an item.
        case stored(AreaPath)
        /// It was moved to this location as a file of the user's, and recorded.
        case moved(AreaPath)
        /// The same content was there already, and the file was removed.
        case merged(AreaPath)
        /// It stays where it is, and was recorded there.
        case adopted(AreaPath)
        /// It was left as it is, for this reason.
        case left(Obstacle)
    }

    /// Why a file stays where it is.
    public enum Obstacle: Hashable, Sendable {
        /// It is a symbolic link, a socket, a device or the like.
        case notARegularFile
        /// Its path cannot be a key, or a location in the area, for this reason.
        case name(String)
        /// Its key belongs to other content that is cached or was opened.
        case keyIsTaken
        /// There is no room for it without evicting other items, or storing is refused.
        case refused(Refusal)
        /// It was changed or replaced meanwhile, is being written, or is being imported by another migration.
        case changed
        /// It is a folder of the cache, the tag of a cache folder, or where the files are to go.
        case ours
        /// It could not be migrated because of an error.
        case failed(CacheError)
    }

    /// The path below the folder. A byte in it that is not UTF-8 is written as `\xFF`.
    public let path: String
    /// The key; `nil` for a file that cannot have one.
    public let key: ItemKey?
    /// What became of the file.
    public let outcome: Outcome
}

extension MigratedFile.Obstacle: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notARegularFile: "it is not a regular file"
        case .name(let reason): reason
        case .keyIsTaken: "its key is taken by other content"
        case .refused(let refusal): refusal.description
        case .changed: "it was changed meanwhile, is being written or is being migrated; try again"
        case .ours: "it is the cache's own, or where the files are to go"
        case .failed(let error): error.description
        }
    }
}
