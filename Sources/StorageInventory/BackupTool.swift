internal import PrefetchFileSystem
package import SystemPackage

/// What takes the backup, and with it which exclusions count.
///
/// The raw values are arguments of `cachectl`. Which marks a tool knows is not documented by all of them: tests compare
/// the predictions with real archives.
package enum BackupTool: String, Sendable, Hashable, CaseIterable {
    /// The platform's own backup, or on Linux, which has none, one that honours every mark and tag.
    case system
    /// GNU tar with `--exclude-caches`.
    case tar
    /// restic with `--exclude-caches`.
    case restic
    /// BorgBackup with `--exclude-caches --keep-exclude-tags --exclude-nodump`.
    case borg
    /// A tool that copies every file.
    case none

    /// The exclusions that the tool honours.
    package var honoured: Exclusions {
        switch self {
        case .system: [.area, .cacheTag, .noDump, .xdgAttribute, .appleAttribute]
        case .tar, .restic: .cacheTag
        case .borg: [.cacheTag, .noDump]
        case .none: []
        }
    }

    /// Whether a `CACHEDIR.TAG` that is a symbolic link to a valid one counts.
    var followsLinkedTags: Bool { self == .restic || self == .borg }
}

extension FileInventory {
    /// A path that a backup should leave out, for tools that know neither marks nor areas.
    package struct ExcludedPath: Sendable {
        /// Absolute.
        package let path: FilePath
        package let isFolder: Bool
    }

    /// The excluded files and folders, outermost only. Of a folder with a `CACHEDIR.TAG` they are the content, as the tag
    /// does not exclude itself.
    ///
    /// - Complexity: O(*n*) in the number of files and folders.
    package var excludedPaths: [ExcludedPath] {
        var excluded: [ExcludedPath] = []
        // A parent precedes its children.
        var isCovered = [Bool](repeating: false, count: folders.count)
        for (number, folder) in folders.enumerated() {
            let parent = folder.parent.map(Int.init)
            if let parent, isCovered[parent] {
                isCovered[number] = true
            } else if !folder.exclusions.isEmpty,
                !folder.isTagged || parent.map({ !folders[$0].exclusions.isEmpty }) == true
                    || !folder.exclusions.subtracting(.cacheTag).isEmpty
            {
                isCovered[number] = true
                excluded.append(ExcludedPath(path: absolutePath(ofFolder: Int32(number)), isFolder: true))
            }
        }
        for file in files where !file.isBackedUp && !isCovered[Int(file.folder)] {
            let folder = absolutePath(ofFolder: file.folder)
            excluded.append(ExcludedPath(path: folder.appending(file.name), isFolder: false))
        }
        return excluded
    }

    func absolutePath(ofFolder number: Int32) -> FilePath {
        root(ofFolder: number).lexicallyNormalized().pushing(pathInWalk(ofFolder: number))
    }
}
