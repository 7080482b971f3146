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

/// Files that can be downloaded again, in a location that is backed up.
struct CachedDataBackedUp: StorageRule {
    let info = RuleInfo(
        "cached-data-backed-up", .error, [.t24, .g2, .b4],
        "Files that can be downloaded again are in a place that is backed up, and not marked as excluded.",
        fix: "Move it to Caches, or mark it: `isExcludedFromBackup`.", by: .exclude)

    private static let folderNames: Set = ["cache", "caches", ".cache", "fscacheddata"]

    func check(_ checkup: inout Checkup) {
        let place = checkup.inventory.place
        let exposed = checkup.files { $0.kind == .foreign && $0.isExposedToBackup(in: place) }
        let candidates = exposed.filter {
            checkup.purposes?[$0] == nil && checkup.irreplaceability(of: $0) == nil
        }
        let caches = checkup.inventory.outermostFolders { _, folder in
            guard folder.parent != nil else { return false }
            return folder.exclusions.contains(.cacheTag)
                || folder.name.lastComponent.map {
                    Self.folderNames.contains($0.string.lowercased())
                } ?? false
        }
        let groups = markableAsAWhole(caches, &checkup)
        let places = checkup.inventory.libraryFolders
        let message = "the folder holds a cache, by its name or its tag"
        var inCaches: [Bool: [Int32]] = [:]
        for index in candidates {
            guard let cache = caches[Int(checkup.file(index).folder)] else { continue }
            inCaches[checkup.inventory.isNamedForMark(cache, among: places), default: []].append(index)
        }
        checkup.report(self, inCaches[true] ?? [], byFolder: groups, message)
        checkup.report(self, inCaches[false] ?? [], byFolder: caches, message, remedy: .move(.caches))
        for index in candidates
        where caches[Int(checkup.file(index).folder)] == nil && isItem(index, &checkup) {
            checkup.report(self, index, "it is a cached item")
        }
    }

    /// The caches that may be marked as a whole: those in which nothing is meant to be in backups.
    private func markableAsAWhole(_ caches: [Int32?], _ checkup: inout Checkup) -> [Int32?] {
        var others: Set<Int32> = []
        for (index, file) in checkup.inventory.files.enumerated() {
            guard let cache = caches[Int(file.folder)], !others.contains(cache) else { continue }
            let entry = checkup.purposes.flatMap { purposes in
                purposes[Int32(index)].map { purposes.manifest.entries[$0] }
            }
            if entry.map({ $0.backup != .exclude }) ?? (file.kind == .promoted && file.isBackupIntended)
                || entry == nil && checkup.irreplaceability(of: Int32(index)) != nil
            {
                others.insert(cache)
            }
        }
        return caches.map { cache in cache.flatMap { others.contains($0) ? nil : $0 } }
    }

    /// Recognises an item by its name, which is the hash of its key, even if it was moved.
    private func isItem(_ index: Int32, _ checkup: inout Checkup) -> Bool {
        guard KeyHash(hexadecimal: checkup.file(index).name.string) != nil else { return false }
        let (fileSystem, codecs) = (checkup.fileSystem, checkup.codecs)
        return checkup.look(at: index) { try ItemReader($0, of: fileSystem, codecs: codecs) } != nil
    }
}

/// Small versions of images, which can be made again, in a location that is backed up.
struct ThumbnailsOutsideCaches: StorageRule {
    let info = RuleInfo(
        "thumbnails-outside-caches", .warning, [.b2, .b3, .b4],
        "Thumbnails, which can be made again from the images, are in a place that is backed up.",
        fix: "Move them to Caches.", by: .move(.caches))

    func check(_ checkup: inout Checkup) {
        let place = checkup.inventory.place
        let folders = checkup.inventory.namedFolders(where: FileType.isThumbnailFolder)
        let packages = checkup.packages
        let thumbnails = checkup.files {
            $0.kind == .foreign && ($0.isExposedToBackup(in: place) || $0.area == .iCloudDrive)
                && packages[Int($0.folder)] == nil
        }.filter { folders[Int(checkup.file($0).folder)] != nil || checkup.type(of: $0) == .thumbnail }
        checkup.report(self, thumbnails, byFolder: folders, "it holds thumbnails, by its name")
    }
}

/// Files that cannot be downloaded again, in a location that the system purges.
struct PurgeableUserData: StorageRule {
    let info = RuleInfo(
        "user-data-purgeable", .error, [.t24, .b5, .b8],
        "A file that looks like the user's work is where the system may delete it.",
        fix: "Move it to Documents, or to Application Support.", by: .move(.documents))

    func check(_ checkup: inout Checkup) {
        checkup.reportIrreplaceable(
            self, among: checkup.files { $0.kind == .foreign && $0.isPurgeable })
    }
}

/// A file left in tmp.
struct LeftInTemporary: StorageRule {
    let info = RuleInfo(
        "left-in-tmp", .warning, [.t28, .t29, .g3, .b7],
        "A temporary file was not deleted after use.",
        fix: "Delete it as soon as it is no longer needed.", by: .discard)

    /// In milliseconds. No work in tmp takes a day.
    private static let patience: Int64 = 86_400_000

    func check(_ checkup: inout Checkup) {
        let old = checkup.options.now - Self.patience
        let files = checkup.files { $0.area == .temporary && $0.modified < old }
        let inventory = checkup.inventory
        let groups = checkup.inventory.outermostFolders { _, folder in
            folder.parent.map { inventory.folders[Int($0)].area == .temporary } ?? false
        }
        checkup.report(self, files, byFolder: groups, "it was last changed more than a day ago")
    }
}

/// A database in a location that the system purges. Caches is the place for those that can be made again.
struct DatabaseInCaches: StorageRule {
    let info = RuleInfo(
        "database-in-caches", .note, [.t24, .g2, .b5],
        "A database is where the system may delete it, which is right only if it can be made again.",
        fix: "Make sure that the app makes it again. If it cannot, move it to Application Support.")

    /// Parts of the names of databases that can be made again by their nature.
    private static let harmless = ["cache", "thumb", "tile"]

    func check(_ checkup: inout Checkup) {
        let candidates = checkup.files { $0.kind == .foreign && $0.isPurgeable }
        let sideFiles = SideFiles(among: candidates, of: checkup)
        for index in candidates {
            let name = checkup.file(index).name.string.lowercased()
            guard !name.hasSuffix(".mbtiles"), !Self.harmless.contains(where: { name.contains($0) }),
                // Its entry in the manifest says that it can be made again.
                checkup.entry(of: index) == nil, let evidence = checkup.databaseEvidence(index)
            else { continue }
            checkup.report(
                self, [index] + sideFiles.sides(of: index, in: checkup),
                at: checkup.inventory.path(of: checkup.file(index)), evidence)
        }
    }
}

/// A document of the user's in Application Support, where the user cannot get at it.
struct DocumentInSupport: StorageRule {
    let info = RuleInfo(
        "document-in-support", .warning, [.t7, .t31],
        "A document of the user's is in Application Support, where the user does not see it.",
        fix: "Move it to Documents, or to iCloud Drive.", by: .move(.documents))

    func check(_ checkup: inout Checkup) {
        let files = checkup.files { $0.kind == .foreign && $0.area == .applicationSupport }.filter { index in
            // What the manifest explains is in the right area, or misplaced.
            checkup.folder(of: checkup.file(index)).role?.isOwn != true && checkup.entry(of: index) == nil
        }
        checkup.reportIrreplaceable(self, among: files)
    }
}
