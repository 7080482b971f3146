public import ItemFormat
public import StorageAreas
public import SystemPackage

/// Which folder of files is to be taken into the cache, and as what.
public struct MigrationRequest: Hashable, Sendable {
    /// What the files are from then on.
    public enum Role: Hashable, Sendable {
        /// Items that can be downloaded again, and that go to the area when they are opened. They are compressed, and
        /// count against the budget.
        case cached(to: Area)
        /// Files of the user's in an area, as if they had been opened.
        case promoted(to: Area)
    }

    /// The folder, which is no part of the cache. Links below it are not followed.
    public var folder: FilePath
    public var role: Role
    /// The feed or server that items come from.
    public var source: String
    /// A file's key is this and its path below the folder.
    public var keyPrefix: String
    public var backup: BackupPolicy

    public init(
        of folder: FilePath, as role: Role, source: String = "", keyPrefix: String = "",
        backup: BackupPolicy = .include
    ) {
        self.folder = folder
        self.role = role
        self.source = source
        self.keyPrefix = keyPrefix
        self.backup = backup
    }

    var area: Area {
        switch role {
        case .cached(let area), .promoted(let area): area
        }
    }
}

/// What became of one file, or would become of it.
public struct MigratedFile: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        /// It is an item now.
        case stored(AreaPath)
        /// It is a file of the user's at this place now, and known.
        case moved(AreaPath)
        /// The same content was there already; the file is gone.
        case merged(AreaPath)
        /// It is where it was, and known from now on.
        case adopted(AreaPath)
        /// It stays as it is.
        case left(Obstacle)
    }

    /// Why a file stays where it is.
    public enum Obstacle: Hashable, Sendable {
        /// A link, a socket, a device or the like.
        case notARegularFile
        /// Its path cannot be a key, or a place in the area; and why.
        case name(String)
        /// Its key is that of other content, cached or opened before.
        case keyIsTaken
        /// There is no room for it, or no place; others would have to make way.
        case refused(Refusal)
        /// Somebody has written to it or replaced it meanwhile.
        case changed
        /// A folder that is the cache's, or where the files are to go.
        case ours
        case failed(CacheError)
    }

    /// Below the folder; what is not UTF-8 in it is shown by a replacement character.
    public let path: String
    /// `nil` where it can have none.
    public let key: ItemKey?
    public let outcome: Outcome
}

extension MigratedFile.Obstacle: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notARegularFile: "it is not a regular file"
        case .name(let reason): reason
        case .keyIsTaken: "its key is taken by other content"
        case .refused(let refusal): refusal.description
        case .changed: "it was changed meanwhile; try again"
        case .ours: "it is the cache's own, or where the files are to go"
        case .failed(let error): error.description
        }
    }
}
