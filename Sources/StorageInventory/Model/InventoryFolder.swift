package import FileSystem
package import PrefetchCache
package import StorageAreas
package import SystemPackage

/// One folder that was found.
package struct InventoryFolder: Sendable {
    /// The folder that it lies in, by its number; `nil` for one where the walk began.
    package let parent: Int32?
    /// The name in the parent; the whole path of one where the walk began.
    package let name: FilePath
    /// How many folders above it were found.
    package let depth: Int32
    /// `nil` for a folder of a container that is in no area, such as `Library/Preferences`.
    package let area: Area?
    /// What the folder is to the cache, if anything.
    package let role: CacheFolder?
    package let attributes: FileAttributes
    /// What holds for everything in the folder.
    package var exclusions: Exclusions = []
    /// Whether the folder itself carries a mark, or a tag, by which what is in it is left out.
    package var isExcludedItself = false
}
