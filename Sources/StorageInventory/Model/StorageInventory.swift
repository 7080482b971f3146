internal import FileSystem
package import PrefetchCache
internal import StorageAreas
package import SystemPackage

/// Every file of an application or of a container, with what is known about it.
package struct StorageInventory: Sendable {
    package internal(set) var folders: [InventoryFolder] = []
    package internal(set) var files: [InventoryFile] = []
    /// The paths that could not be examined or read.
    package internal(set) var problems: [Problem] = []
    /// The number of files and folders that disappeared while they were examined.
    package internal(set) var vanished = 0
    /// The content of the ledger; `nil` when it is missing or cannot be read.
    package internal(set) var ledger: LedgerSnapshot?
    /// Whether all promotions are known: the ledger was read, or does not exist.
    package internal(set) var isLedgerKnown = true
    /// The version of the catalog, if there is one.
    package internal(set) var catalogVersion: Int?
    package let place: InventoryPlace

    init(of place: InventoryPlace) {
        self.place = place
    }

    /// Something that an inventory could not determine.
    package struct Problem: Hashable, Sendable {
        package let path: FilePath
        package let reason: String
    }

    /// The path of a folder, relative to the container or, for an application, to its area.
    ///
    /// - Complexity: O(n) in the depth.
    package func path(ofFolder number: Int32) -> FilePath {
        Self.path(components(ofFolder: number))
    }

    /// The path of a file; see ``path(ofFolder:)``.
    package func path(of file: InventoryFile) -> FilePath {
        Self.path(components(ofFolder: file.folder) + [file.name])
    }

    /// Joins all names at once: pushing them one by one would parse the growing path each time.
    private static func path(_ components: [FilePath.Component]) -> FilePath {
        var bytes: [CInterop.PlatformChar] = []
        for component in components {
            if !bytes.isEmpty { bytes.append(CInterop.PlatformChar(UInt8(ascii: "/"))) }
            component.withPlatformString { name in
                var next = name
                while next.pointee != 0 {
                    bytes.append(next.pointee)
                    next += 1
                }
            }
        }
        bytes.append(0)
        return FilePath(platformString: bytes)
    }

    /// The names that lead from the root of the walk to a folder.
    func components(ofFolder number: Int32) -> [FilePath.Component] {
        var components: [FilePath.Component] = []
        var next = number
        while let parent = folders[Int(next)].parent {
            components += folders[Int(next)].name.components
            next = parent
        }
        return components.reversed()
    }

    /// The absolute path of the root of the walk that found a folder.
    func root(ofFolder number: Int32) -> FilePath {
        var next = number
        while let parent = folders[Int(next)].parent { next = parent }
        return folders[Int(next)].name
    }
}
