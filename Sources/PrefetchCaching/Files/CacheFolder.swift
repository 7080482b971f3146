package import PrefetchFileSystem
package import PrefetchItemFormat
package import PrefetchStorageAreas
package import SystemPackage

/// A folder that the cache uses, or one above it, recognised by its location alone.
package enum CacheFolder: Hashable, Sendable {
    /// The root of Caches or of Application Support.
    case area(Area)
    /// A folder in Documents or iCloud Drive, at any depth, where opened items go.
    case destination
    /// The two folders named `PrefetchCache`.
    case cachesRoot, supportRoot
    case items, itemGroup(String), incoming, quarantine
    /// A staging folder, possibly next to the files of a destination on another volume.
    case staging
    /// `files/` in Application Support, or a folder below it.
    case files
    /// A folder below one of the cache's that the cache did not create.
    case unknown

    /// The root of an area; `nil` where the cache stores nothing.
    package init?(root area: Area) {
        switch area {
        case .documents, .iCloudDrive: self = .destination
        case .caches, .applicationSupport: self = .area(area)
        case .temporary: return nil
        }
    }

    /// Returns what a folder in this one is; `nil` for one that is unrelated to the cache.
    package func child(_ name: FilePath.Component) -> CacheFolder? {
        let path = FilePath(root: nil, [name])
        switch self {
        case .area(let area):
            guard path == CacheLayout.root else { return nil }
            return area == .caches ? .cachesRoot : .supportRoot
        case .destination: return path == CacheLayout.foreignStaging ? .staging : .destination
        case .cachesRoot:
            if path == CacheLayout.items { return .items }
            if path == CacheLayout.incoming { return .incoming }
            return path == CacheLayout.quarantine ? .quarantine : .unknown
        case .supportRoot:
            if path == CacheLayout.staging { return .staging }
            return path == CacheLayout.files ? .files : .unknown
        case .items:
            let digits = name.string
            return digits.utf8.count == 2 && digits.utf8.allSatisfy(\.isLowercaseHexadecimal)
                ? .itemGroup(digits) : .unknown
        case .files: return .files
        case .itemGroup, .incoming, .quarantine, .staging, .unknown: return .unknown
        }
    }

    /// Whether the folder was created by the cache, or lies in one that was.
    package var isOwn: Bool {
        switch self {
        case .area, .destination: false
        default: true
        }
    }
}

/// What a file in a ``CacheFolder`` is to the cache, recognised by its name.
package enum CacheFile: Hashable, Sendable {
    case item(KeyHash)
    /// A partial that is being written, or was when its process died.
    case partial
    /// The chunks of a kept partial, and their journal.
    case keptPartial(KeyHash)
    case journal(KeyHash)
    case lock
    case quarantined
    case staged(name: String)
    /// The journal of a staged file that was or is being downloaded.
    case stagedJournal(of: FilePath.Component)
    /// A file of the user's that was moved aside, and is moved back when the cache is opened.
    case aside
    case record, catalog, configuration

    /// - Returns: `nil` for a name that the cache does not use there.
    package init?(_ name: FilePath.Component, in folder: CacheFolder) {
        let text = name.string
        switch folder {
        case .itemGroup(let digits):
            guard text.hasPrefix(digits), let hash = KeyHash(hexadecimal: text) else { return nil }
            self = .item(hash)
        case .incoming:
            if let hash = CacheLayout.hash(ofKeptPartial: name) {
                self = name.extension == nil ? .keptPartial(hash) : .journal(hash)
            } else if CacheLayout.session(of: name) != nil {
                self = name.extension == "lock" ? .lock : .partial
            } else if CacheLayout.isClaim(name) {
                self = .lock
            } else {
                return nil
            }
        case .quarantine:
            guard KeyHash(hexadecimal: text) != nil else { return nil }
            self = .quarantined
        case .staging:
            if CacheLayout.hash(ofStaged: name) != nil {
                self = .staged(name: text)
            } else if CacheLayout.hash(ofAside: name) != nil {
                self = .aside
            } else if let staged = CacheLayout.stagedName(ofJournal: name) {
                self = .stagedJournal(of: staged)
            } else if text == CacheLayout.keyLocks.string || SpareRoom.isPart(name) {
                self = .lock
            } else {
                return nil
            }
        case .cachesRoot:
            guard ([CacheLayout.catalog] + CatalogFile.sideFiles).contains(text) else { return nil }
            self = .catalog
        case .supportRoot:
            let configuration = CacheLayout.configuration.string
            let names = [CacheLayout.record, EarlierRecord.ledger].flatMap { name in
                ([""] + CacheLayout.databaseSides).map { name + $0 }
            }
            if names.contains(text)
                || (EarlierRecord.logs + [CacheLayout.generation]).contains(FilePath(text))
            {
                self = .record
            } else if text == configuration || text == ".\(configuration).new" {
                self = .configuration
            } else {
                return nil
            }
        case .area, .destination, .files, .items, .unknown: return nil
        }
    }
}

extension PrefetchCache {
    /// Whether there is anything under the name of the cache's folder in an area, Caches or Application
    /// Support. Creates nothing.
    package static func hasRoot(in area: FilePath, _ fileSystem: any FileSystem) throws(FileSystemError)
        -> Bool
    {
        do {
            return try fileSystem.attributes(of: area.pushing(CacheLayout.root), in: .workingDirectory) != nil
        } catch {
            // A file has the name of a folder: opening the cache will report that.
            if error.errno == .notDirectory { return true }
            throw error
        }
    }
}
