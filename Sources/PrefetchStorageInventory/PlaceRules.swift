internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Files that can be downloaded again, in a location that is backed up.
struct CachedDataBackedUp: StorageRule {
    let info = RuleInfo(
        "cached-data-backed-up", .error, .storage,
        "Files that can be downloaded again are in a place that is backed up, and not marked as excluded.",
        fix: "Move it to Caches, or mark it: `isExcludedFromBackup`.")

    private static let folderNames: Set = ["cache", "caches", ".cache", "fscacheddata"]

    func check(_ checkup: inout Checkup) {
        let isAreaDecisive = checkup.inventory.place.isBackupDecidedByArea
        // The platform's backup ignores cache directory tags.
        let honoured: Exclusions = isAreaDecisive ? .cacheTag : []
        let candidates = checkup.files {
            $0.kind == .foreign && $0.areMarksKnown && $0.area.map { $0.promise.backup == .backedUp } ?? true
                && $0.exclusions.subtracting(honoured).isEmpty
        }
        let inventory = checkup.inventory
        let isCache = { (folder: InventoryFolder) in
            guard folder.parent != nil else { return false }
            return folder.exclusions.contains(.cacheTag)
                || folder.name.lastComponent.map {
                    Self.folderNames.contains($0.string.lowercased())
                } ?? false
        }
        let inCaches = candidates.filter { index in
            checkup.folders(above: checkup.file(index)).contains { isCache(inventory.folders[Int($0)]) }
        }
        checkup.report(self, inCaches, byFolder: isCache, "the folder holds a cache, by its name or its tag")
        let others = Set(candidates).subtracting(inCaches).sorted()
        for index in others where isItem(index, &checkup) {
            checkup.report(self, index, "it is a cached item")
        }
    }

    /// Recognises an item by its name, which is the hash of its key, even if it was moved.
    private func isItem(_ index: Int32, _ checkup: inout Checkup) -> Bool {
        guard KeyHash(hexadecimal: checkup.file(index).name.string) != nil else { return false }
        let (fileSystem, codecs) = (checkup.fileSystem, checkup.codecs)
        return checkup.look(at: index) { try ItemReader($0, of: fileSystem, codecs: codecs) } != nil
    }
}

/// Files that cannot be downloaded again, in a location that the system purges.
struct PurgeableUserData: StorageRule {
    let info = RuleInfo(
        "user-data-purgeable", .error, .storage,
        "A file that looks like the user's work, or a database, is where the system may delete it.",
        fix: "Move it to Documents, or to Application Support.")

    /// File types that users create rather than download.
    private static let extensions: Set = [
        "doc", "docx", "key", "numbers", "odp", "ods", "odt", "pages", "ppt", "pptx", "psd", "rtf", "rtfd",
        "xcf", "xls", "xlsx",
    ]

    func check(_ checkup: inout Checkup) {
        let candidates = checkup.files {
            $0.kind == .foreign && ($0.area == .caches || $0.area == .temporary)
        }
        for index in candidates {
            let name = checkup.file(index).name
            if let ending = name.extension?.lowercased(), Self.extensions.contains(ending) {
                checkup.report(self, index, "files of this type are usually created by users")
            } else if DatabaseName(name).isMain, !DatabaseName(name).isKnownCache, checkup.isDatabase(index) {
                let sideFiles = candidates.filter {
                    checkup.file($0).folder == checkup.file(index).folder
                        && DatabaseName(checkup.file($0).name).isSideFile(of: DatabaseName(name))
                }
                checkup.report(
                    self, [index] + sideFiles, at: checkup.inventory.path(of: checkup.file(index)),
                    "it is a database")
            }
        }
    }
}

/// A file left in tmp.
struct LeftInTemporary: StorageRule {
    let info = RuleInfo(
        "left-in-tmp", .warning, .fileSystem,
        "A temporary file was not deleted after use.",
        fix: "Delete it as soon as it is no longer needed.")

    /// In milliseconds. No work in tmp takes a day.
    private static let patience: Int64 = 86_400_000

    func check(_ checkup: inout Checkup) {
        let old = checkup.options.now - Self.patience
        let files = checkup.files { $0.area == .temporary && $0.modified < old }
        let inventory = checkup.inventory
        checkup.report(
            self, files,
            byFolder: { $0.parent.map { inventory.folders[Int($0)].area == .temporary } ?? false },
            "it was last changed more than a day ago")
    }
}

/// Files in Documents that are not user documents.
struct NoDocument: StorageRule {
    let info = RuleInfo(
        "no-document", .warning, .storage,
        "A database, its side file, a hidden file or an unfinished download is in Documents.",
        fix: "Move it to Application Support, or to Caches.")

    private static let unfinished: Set = ["crdownload", "download", "part", "partial", "tmp"]

    func check(_ checkup: inout Checkup) {
        let candidates = checkup.files {
            ($0.area == .documents || $0.area == .iCloudDrive)
                && ($0.kind == .foreign || $0.kind == .promoted)
        }
        let inventory = checkup.inventory
        let isHidden = { (folder: InventoryFolder) in
            folder.parent != nil && folder.name.lastComponent?.string.hasPrefix(".") == true
        }
        let exposure = checkup.options.settings?.isSharing == true ? ", and the user sees it" : ""
        let hidden = candidates.filter { index in
            let file = checkup.file(index)
            return file.name.string.hasPrefix(".")
                || checkup.folders(above: file).contains { isHidden(inventory.folders[Int($0)]) }
        }
        checkup.report(self, hidden, byFolder: isHidden, "it is hidden")
        for index in Set(candidates).subtracting(hidden).sorted() {
            let name = checkup.file(index).name
            if let ending = name.extension?.lowercased(), Self.unfinished.contains(ending) {
                checkup.report(self, index, "it is an unfinished download\(exposure)")
            } else if DatabaseName(name).isSideFile {
                checkup.report(self, index, "it is a side file of a database\(exposure)")
            } else if checkup.isDatabase(index) {
                checkup.report(self, index, "it is a database\(exposure)")
            }
        }
    }
}

/// Classifies a file name by database naming conventions.
struct DatabaseName {
    private static let endings = ["-journal", "-shm", "-wal"].map { Array($0.utf8) }
    private let bytes: [UInt8]

    init(_ name: FilePath.Component) {
        bytes = FilePath(root: nil, [name]).bytes
    }

    var isSideFile: Bool { Self.endings.contains { bytes.suffix($0.count).elementsEqual($0) } }
    var isMain: Bool { !isSideFile }

    /// `URLCache` keeps a database in Caches, where it belongs.
    var isKnownCache: Bool { bytes == Array("Cache.db".utf8) }

    func isSideFile(of main: DatabaseName) -> Bool {
        Self.endings.contains { bytes == main.bytes + $0 }
    }
}

/// Files that the user would miss, excluded from backups.
struct ExcludedUserData: StorageRule {
    let info = RuleInfo(
        "user-data-excluded", .error, .optimizing,
        "A document, or an opened file that should be backed up, is excluded from backups.",
        fix: "Remove the mark: only files that can be downloaded again may carry it.")

    func check(_ checkup: inout Checkup) {
        let files = checkup.files {
            guard $0.isBackupIntended, !$0.isBackedUp, !$0.exclusions.contains(.area) else { return false }
            switch $0.kind {
            case .promoted, .ledger, .configuration: return true
            case .foreign: return $0.area == .documents
            default: return false
            }
        }
        checkup.report(self, files, byFolder: \.isExcludedItself, "it is marked as excluded from backups")
    }
}

/// Files excluded from backups that are no longer used.
struct ExcludedUnused: StorageRule {
    let info = RuleInfo(
        "excluded-unused", .warning, .storage,
        "An excluded file has not been used for long (`--unused-for`), and the system does not purge it.",
        fix: "The app has to delete it: `cachectl purge --excluded`.")

    func check(_ checkup: inout Checkup) {
        let before = checkup.options.now - checkup.options.unusedFor
        let candidates = checkup.files {
            guard !$0.exclusions.isDisjoint(with: .marks), !$0.isPurgeable else { return false }
            return max($0.modified, $0.since) < before
                && ($0.kind == .promoted || $0.kind == .foreign && $0.area != .iCloudDrive)
        }
        var unused: [Int32] = []
        for index in candidates where checkup.folder(of: checkup.file(index)).role != .staging {
            // How long it may stay unused is what its entry in the manifest says: `PastItsTime`.
            if checkup.entry(of: index)?.unusedFor != nil { continue }
            if let accessed = accessTime(index, &checkup), accessed >= before { continue }
            unused.append(index)
        }
        checkup.report(self, unused, byFolder: \.isExcludedItself, "it has not been used for long")
    }

    /// In milliseconds since 1970.
    private func accessTime(_ index: Int32, _ checkup: inout Checkup) -> Int64? {
        let fileSystem = checkup.fileSystem
        let time = checkup.look(at: index) { try fileSystem.accessTime(of: $0) }
        return (time ?? nil).map { $0 / 1_000_000 }
    }
}
