internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

extension InventoryFile {
    /// Whether the file is where everything is backed up, unless something excludes it. The area of an app on Linux
    /// decides nothing, but its files are judged alike.
    var isWhereBackedUp: Bool { area.map { $0.promise.backup == .backedUp } ?? true }

    /// Whether nothing but a cache directory tag, which the platform's backup ignores, keeps the file out of backups.
    func isExposedToBackup(in place: InventoryPlace) -> Bool {
        let ignored: Exclusions = place.isBackupDecidedByArea ? .cacheTag : []
        return isWhereBackedUp && areMarksKnown && exclusions.subtracting(ignored).isEmpty
    }
}

extension Checkup {
    /// Files that can be downloaded again, in a location that is backed up.
    mutating func findCachedDataInBackups() {
        let place = inventory.place
        let exposed = files { $0.kind == .foreign && $0.isExposedToBackup(in: place) }
        let candidates = exposed.filter {
            purposes?[$0] == nil && irreplaceability(of: $0) == nil
        }
        let caches = inventory.outermostFolders { _, folder in
            guard folder.parent != nil else { return false }
            return folder.exclusions.contains(.cacheTag)
                || folder.name.lastComponent.map {
                    ["cache", "caches", ".cache", "fscacheddata"].contains($0.string.lowercased())
                } ?? false
        }
        let groups = markableAsAWhole(caches)
        let places = inventory.libraryFolders
        let message = "the folder holds a cache, by its name or its tag"
        var inCaches: [Bool: [Int32]] = [:]
        for index in candidates {
            guard let cache = caches[Int(file(index).folder)] else { continue }
            inCaches[inventory.isNamedForMark(cache, among: places), default: []].append(index)
        }
        report(inCaches[true] ?? [], byFolder: groups, message)
        report(inCaches[false] ?? [], byFolder: caches, message, remedy: .move(.caches))
        for index in candidates
        where caches[Int(file(index).folder)] == nil && isItem(index) {
            report(index, "it is a cached item")
        }
    }

    /// The caches that may be marked as a whole: those in which nothing is meant to be in backups.
    private mutating func markableAsAWhole(_ caches: [Int32?]) -> [Int32?] {
        var others: Set<Int32> = []
        for (index, file) in inventory.files.enumerated() {
            guard let cache = caches[Int(file.folder)], !others.contains(cache) else { continue }
            let entry = purposes.flatMap { purposes in
                purposes[Int32(index)].map { purposes.manifest.entries[$0] }
            }
            if entry.map({ $0.backup != .exclude }) ?? (file.kind == .promoted && file.isBackupIntended)
                || entry == nil && irreplaceability(of: Int32(index)) != nil
            {
                others.insert(cache)
            }
        }
        return caches.map { cache in cache.flatMap { others.contains($0) ? nil : $0 } }
    }

    /// Recognises an item by its name, which is the hash of its key, even if it was moved.
    private mutating func isItem(_ index: Int32) -> Bool {
        guard KeyHash(hexadecimal: file(index).name.string) != nil else { return false }
        let (fileSystem, codecs) = (fileSystem, codecs)
        return look(at: index) { try ItemReader($0, of: fileSystem, codecs: codecs) } != nil
    }

    /// Small versions of images, which can be made again, in a location that is backed up.
    mutating func findThumbnails() {
        let place = inventory.place
        let folders = inventory.namedFolders(where: FileType.isThumbnailFolder)
        let thumbnails = files {
            $0.kind == .foreign && ($0.isExposedToBackup(in: place) || $0.area == .iCloudDrive)
                && packages[Int($0.folder)] == nil
        }.filter { folders[Int(file($0).folder)] != nil || type(of: $0) == .thumbnail }
        report(thumbnails, byFolder: folders, "it holds thumbnails, by its name")
    }

    /// A file left in tmp.
    mutating func findLeftovers() {
        // No work in tmp takes a day.
        let old = options.now - 86_400_000
        let files = self.files { $0.area == .temporary && $0.modified < old }
        let groups = inventory.outermostFolders { _, folder in
            folder.parent.map { inventory.folders[Int($0)].area == .temporary } ?? false
        }
        report(files, byFolder: groups, "it was last changed more than a day ago")
    }

    /// A database in a location that the system purges. Caches is the place for those that can be made again.
    mutating func findDatabasesInCaches() {
        let candidates = files { $0.kind == .foreign && $0.isPurgeable }
        let sideFiles = SideFiles(among: candidates, of: self)
        for index in candidates {
            let name = file(index).name.string.lowercased()
            // Databases that can be made again by their nature.
            guard !name.hasSuffix(".mbtiles"),
                !["cache", "thumb", "tile"].contains(where: { name.contains($0) }),
                // Its entry in the manifest says that it can be made again.
                entry(of: index) == nil, let evidence = databaseEvidence(index)
            else { continue }
            report(
                [index] + sideFiles.sides(of: index, in: self),
                at: inventory.path(of: file(index)), evidence)
        }
    }

    /// A document of the user's in Application Support, where the user cannot get at it.
    mutating func findDocumentsInSupport() {
        let files = self.files { $0.kind == .foreign && $0.area == .applicationSupport }.filter { index in
            // What the manifest explains is in the right area, or misplaced.
            folder(of: file(index)).role?.isOwn != true && entry(of: index) == nil
        }
        reportIrreplaceable(among: files)
    }
}
