package import FileSystem
package import PrefetchCache
package import StorageAreas
package import SystemPackage

/// One folder found by a walk.
package struct InventoryFolder: Sendable {
    /// The index of its parent folder; `nil` for a root of the walk.
    package let parent: Int32?
    /// The name in the parent; for a root of the walk, the whole path.
    package let name: FilePath
    /// The depth below the root of the walk.
    package let depth: Int32
    /// `nil` for a folder of a container that is in no area, such as `Library/Preferences`.
    package let area: Area?
    /// The role of the folder in the cache, if any.
    package let role: CacheFolder?
    package let attributes: FileAttributes
    /// Whether its space was already counted: it is seen a second time, through a bind mount.
    package let isCountedElsewhere: Bool
    /// The exclusions of everything in the folder.
    package var exclusions: Exclusions = []
    /// Whether all marks and tags of the folder and of those above could be read, so that nothing else excludes
    /// what is in it.
    package var areMarksKnown = true
    /// Whether the folder itself carries a mark or a tag that excludes its content.
    package var isExcludedItself = false
}
