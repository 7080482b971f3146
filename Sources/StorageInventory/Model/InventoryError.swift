package import SystemPackage

/// Why an inventory could not be taken.
package enum InventoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is nothing at the path of the container, or at that of any area.
    case missing(FilePath)
    case notAFolder(FilePath)
    case unreadable(FilePath, Errno)

    package var description: String {
        switch self {
        case .missing(let path):
            "there is no folder \(path): name one that holds an app's Documents, Library and tmp"
        case .notAFolder(let path):
            "\(path) is not a folder: name one that holds an app's Documents, Library and tmp"
        case .unreadable(let path, let errno): "\(path) cannot be opened (\(errno)): check its permissions"
        }
    }
}
