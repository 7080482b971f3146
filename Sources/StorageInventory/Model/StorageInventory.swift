internal import FileSystem
package import PrefetchCache
internal import StorageAreas
package import SystemPackage

/// Every file of an application or of a container, and what there is to know about it.
package struct StorageInventory: Sendable {
    package internal(set) var folders: [InventoryFolder] = []
    package internal(set) var files: [InventoryFile] = []
    /// What could not be looked at, or read.
    package internal(set) var problems: [Problem] = []
    /// Files and folders that went while they were looked at.
    package internal(set) var vanished = 0
    /// What the ledger says; `nil` where there is none, or none that can be read.
    package internal(set) var ledger: LedgerSnapshot?
    /// Whether promotions are known: there is no ledger, or it was read.
    package internal(set) var isLedgerKnown = true
    /// The version of the catalog, where there is one.
    package internal(set) var catalogVersion: Int?
    package let place: InventoryPlace

    init(of place: InventoryPlace) {
        self.place = place
    }

    /// Something that an inventory could not find out.
    package struct Problem: Hashable, Sendable {
        package let path: FilePath
        package let reason: String
    }

    /// The path of a folder: from the container, or from its area where there is none.
    ///
    /// - Complexity: O(n) in the depth.
    package func path(ofFolder number: Int32) -> FilePath {
        Self.path(components(ofFolder: number))
    }

    /// The path of a file, see ``path(ofFolder:)``.
    package func path(of file: InventoryFile) -> FilePath {
        Self.path(components(ofFolder: file.folder) + [file.name])
    }

    /// Joins names in one go: pushed one by one they would be looked through again and again.
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

    /// The names that lead from where the walk began to a folder.
    func components(ofFolder number: Int32) -> [FilePath.Component] {
        var components: [FilePath.Component] = []
        var next = number
        while let parent = folders[Int(next)].parent {
            components += folders[Int(next)].name.components
            next = parent
        }
        return components.reversed()
    }

    /// Where the walk began that found a folder: an absolute path.
    func root(ofFolder number: Int32) -> FilePath {
        var next = number
        while let parent = folders[Int(next)].parent { next = parent }
        return folders[Int(next)].name
    }
}
