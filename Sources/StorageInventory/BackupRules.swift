internal import PrefetchCaching
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

// What is in backups and should not be, or the other way round.

extension Checkup {
    /// Whether nothing but a cache directory tag, which the platform's backup ignores, keeps a file out of backups.
    private func isExposedToBackup(_ file: InventoryFile) -> Bool {
        let ignored: Exclusions = inventory.place.isBackupDecidedByArea ? .cacheTag : []
        return file.isWhereBackedUp && file.areMarksKnown && file.exclusions.subtracting(ignored).isEmpty
    }

    mutating func findCachedDataInBackups() {
        let candidates = files { $0.kind == .foreign && isExposedToBackup($0) }
            .filter { entry(of: $0) == nil && irreplaceability(of: $0) == nil }
        let names: Set = ["cache", "caches", ".cache", "fscacheddata"]
        let caches = inventory.outermostFolders { _, folder in
            guard folder.parent != nil, let name = folder.name.lastComponent else { return false }
            return folder.exclusions.contains(.cacheTag) || names.contains(name.string.lowercased())
        }
        let places = inventory.libraryFolders
        var inCaches: [Bool: [Int]] = [:]
        for index in candidates {
            guard let cache = caches[file(index).folder] else { continue }
            inCaches[inventory.isNamedForMark(cache, among: places), default: []].append(index)
        }
        let message = "the folder holds a cache, by its name or its tag"
        let groups = markableAsAWhole(caches)
        report(inCaches[true] ?? [], byFolder: groups, message)
        report(inCaches[false] ?? [], byFolder: caches, message, remedy: .move(.caches))
        for index in candidates where caches[file(index).folder] == nil && isItem(index) {
            report([index], "it is a cached item")
        }
    }

    /// The caches that may be marked as a whole: those in which nothing is meant to be in backups.
    private mutating func markableAsAWhole(_ caches: [Int?]) -> [Int?] {
        var others: Set<Int> = []
        for (index, file) in inventory.files.enumerated() {
            guard let cache = caches[file.folder], !others.contains(cache) else { continue }
            let isWanted =
                entry(of: index).map { $0.backup != .exclude }
                ?? (file.kind == .promoted && file.isBackupIntended || irreplaceability(of: index) != nil)
            if isWanted { others.insert(cache) }
        }
        return caches.map { cache in cache.flatMap { others.contains($0) ? nil : $0 } }
    }

    /// Recognises an item by its name, which is the hash of its key, even if it was moved.
    private mutating func isItem(_ index: Int) -> Bool {
        guard KeyHash(hexadecimal: file(index).name.string) != nil else { return false }
        return look(at: index) { [codecs] in try ItemReader($0, of: $1, codecs: codecs) } != nil
    }

    mutating func findThumbnails() {
        let folders = inventory.namedFolders(where: FileType.isThumbnailFolder)
        let thumbnails = files {
            $0.kind == .foreign && (isExposedToBackup($0) || $0.area == .iCloudDrive)
                && packages[$0.folder] == nil
        }.filter { folders[file($0).folder] != nil || type(of: $0) == .thumbnail }
        report(thumbnails, byFolder: folders, "it holds thumbnails, by its name")
    }

    mutating func findLargeDownloads() {
        let files = self.files {
            // Over an uplink of 10 Mbit/s, such a file lengthens a backup by 13 seconds.
            $0.length >= 16 << 20 && ($0.kind == .foreign || $0.kind == .promoted) && isExposedToBackup($0)
        }
        for index in files {
            switch (recoverability(of: index), type(of: index)) {
            case (.recoverable(let evidence), _): report([index], evidence)
            // Unless the user put it there.
            case (.unknown, .media?) where !file(index).isVisible:
                report([index], "films and sound are usually downloaded")
            case (.unknown, .model?) where !file(index).isVisible:
                report([index], "models are usually downloaded")
            default: break
            }
        }
    }

    /// Files that the user would miss. Any other file may be excluded, in any folder.
    mutating func findExcludedUserData() {
        let files = self.files { !$0.isBackedUp && !$0.exclusions.contains(.area) }.filter { index in
            let file = self.file(index)
            switch file.kind {
            case .record, .configuration: return true
            case .promoted where file.isBackupIntended: return true
            case .promoted, .foreign: return file.isWhereBackedUp && irreplaceability(of: index) != nil
            default: return false
            }
        }
        let folders = inventory.outermostFolders { $1.isExcludedItself }
        report(files, byFolder: folders, "it is marked as excluded from backups")
    }

    mutating func findUnusedExclusions() {
        let limit = options.unusedFor
        let before = options.now - (limit ?? 30 * 86_400_000)
        let unused = files {
            guard !$0.exclusions.isDisjoint(with: .marks), !$0.isPurgeable else { return false }
            return max($0.modified, $0.since) < before && folder(of: $0).role != .staging
                && ($0.kind == .promoted || $0.kind == .foreign && $0.area != .iCloudDrive)
        }.filter { index in
            // How long it may stay unused is what its entry in the manifest says: `past-its-time`.
            entry(of: index)?.unusedFor == nil && isUnread(index, since: before)
        }
        let folders = inventory.outermostFolders { $1.isExcludedItself }
        report(unused, byFolder: folders, "it has not been used for long", isFixable: limit != nil)
    }

    mutating func findSingleMarks() {
        func isMarked(_ file: InventoryFile) -> Bool {
            file.kind == .foreign && !file.exclusions.isDisjoint(with: .marks)
        }
        var marked: [Int: Int] = [:]
        for file in inventory.files where isMarked(file) && !file.isVisible {
            let folder = folder(of: file)
            guard folder.exclusions.isDisjoint(with: .marks), folder.role?.isOwn != true else { continue }
            marked[file.folder, default: 0] += 1
        }
        let unmarked = inventory.counts(in: inventory.files.lazy.filter { !isMarked($0) }.map(\.folder))
        let places = inventory.libraryFolders
        // Fewer are hardly a group.
        for (folder, count) in marked.sorted(by: { $0.key < $1.key }) where count >= 4 {
            // A mark on the folder is no mark on anything else.
            let isWhole =
                unmarked[folder] == 0 && !inventory.isRootOfArea(folder)
                && inventory.isNamedForMark(folder, among: places)
            report([], "\(count) files in it have a mark of their own", folder: folder, isFixable: isWhole)
        }
    }

    mutating func findExcludedFolderNames() {
        let places = inventory.libraryFolders
        for (number, folder) in inventory.folders.enumerated()
        where folder.parent != nil && folder.role?.isOwn != true && folder.isExcludedItself
            && !folder.exclusions.isDisjoint(with: .marks)
            && !inventory.isNamedForMark(number, among: places)
        {
            report([], "its name could be one of the system's", folder: number)
        }
    }
}

extension FileInventory {
    /// Whether a folder may carry a mark: one of Library needs a name that cannot become one of the system's.
    ///
    /// - Parameter places: ``libraryFolders``.
    func isNamedForMark(_ number: Int, among places: Set<Int>) -> Bool {
        let folder = folders[number]
        guard let parent = folder.parent, let name = folder.name.lastComponent else { return false }
        // The areas of an app that is in no container have its identifier already.
        guard place.container != nil, places.contains(parent) else { return true }
        return name.isBundleIdentifier || SystemFolder.isOne(name)
    }

    /// The folders in which each part of an app has a folder of its own: Library, Application Support and Caches.
    var libraryFolders: Set<Int> {
        var found: Set<Int> = []
        for (number, folder) in folders.enumerated() where isRootOfArea(number) {
            guard folder.area == .applicationSupport || folder.area == .caches else { continue }
            found.insert(number)
            // Library is around them in a container. The areas of an app may be anywhere.
            if place.container != nil, let outer = folder.parent { found.insert(outer) }
        }
        return found
    }
}
