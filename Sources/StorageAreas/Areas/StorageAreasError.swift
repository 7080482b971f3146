public import SystemPackage

/// Why the areas of an app could not be found. Each description says what to do about it.
public enum StorageAreasError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The identifier is no harmless folder name.
    case invalidApplicationID(String)
    /// An area is somewhere in the home folder, and `HOME` is unset, empty or relative.
    case homeMissing
    /// The user's choice of folders is there but cannot be read.
    case userDirectoriesUnreadable(FilePath, Errno)
    /// The path of a container is empty.
    case emptyContainerPath
    /// A relative path was given in a working directory that was removed.
    case workingDirectoryMissing
    /// Something else than a folder is where a container should be, or above it.
    case notADirectory(FilePath)
    /// A container is there but cannot be opened.
    case containerUnreadable(FilePath, Errno)
    /// The platform knows no folder for an area.
    case areaUnavailable(Area)

    public var description: String {
        switch self {
        case .invalidApplicationID(let id):
            """
            \(id.debugDescription) is no application id: use 1 to 255 letters, digits, ".", "_" and "-" \
            (ASCII), beginning with a letter, a digit or "_", for example "org.example.podcasts"
            """
        case .homeMissing:
            """
            the home folder is unknown: set HOME to an absolute path, or set the XDG_* variables \
            (XDG_CACHE_HOME, XDG_DATA_HOME, and XDG_CONFIG_HOME with a user-dirs.dirs)
            """
        case .userDirectoriesUnreadable(let path, let errno):
            "\(path) names the Documents folder but cannot be read (\(errno)): repair or remove the file"
        case .emptyContainerPath:
            "the path of the container is empty: name a folder"
        case .workingDirectoryMissing:
            "the working directory no longer exists: change to another one, or give an absolute path"
        case .notADirectory(let path):
            "\(path) is not a folder, or lies below something that is not: name the folder of a container"
        case .containerUnreadable(let path, let errno):
            "\(path) cannot be opened (\(errno)): check its permissions"
        case .areaUnavailable(let area):
            "the system names no folder for the area \"\(area.name)\": use a container instead"
        }
    }
}
