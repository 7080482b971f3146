public import SystemPackage

/// Why the areas of an app could not be determined. Each description says what to do about it.
public enum StorageAreasError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The identifier is not a safe folder name.
    case invalidApplicationID(String)
    /// An area depends on the home folder, and `HOME` is unset, empty or relative.
    case homeMissing
    /// The file with the user's choice of folders exists but cannot be read.
    case userDirectoriesUnreadable(FilePath, Errno)
    /// The path of a container is empty.
    case emptyContainerPath
    /// A relative path was given, and the working directory was removed.
    case workingDirectoryMissing
    /// Something other than a folder is at the path of a container, or above it.
    case notADirectory(FilePath)
    /// A container exists but cannot be opened.
    case containerUnreadable(FilePath, Errno)
    /// The platform does not name a folder for the area.
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
