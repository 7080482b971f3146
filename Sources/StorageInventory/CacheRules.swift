internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

extension Checkup {
    /// A catalog with an older format version.
    mutating func findOldFormats() {
        if let version = inventory.catalogVersion, version < CatalogSnapshot.currentVersion {
            report(inventory.displayed(inventory.place.areas.caches), "the catalog has version \(version)")
        }
    }

    /// A ledger entry whose file is missing.
    mutating func findEntriesWithoutFiles() {
        guard let ledger = inventory.ledger else { return }
        // Several keys may share a file, whose facts refer to only one of their entries.
        let found = Set(
            inventory.files.compactMap { $0.facts?.ledgerEntry.map { ledger.entries[Int($0)].location } })
        let staged = Set(inventory.files.lazy.filter { $0.kind == .staged }.map(\.name.string))
        for entry in ledger.entries where !found.contains(entry.location) {
            // A promotion that has just begun has neither its staged file nor its final file yet.
            let isBegun = entry.openedAt > options.now - Self.patience
            if entry.state == .intent, isBegun || staged.contains(entry.stagedName) { continue }
            guard let area = inventory.place.areas.path(of: entry.location.area) else { continue }
            // If the user is not signed in to iCloud, the folder does not exist, and its files are unknown.
            if entry.location.area == .iCloudDrive,
                !inventory.folders.contains(where: { $0.area == .iCloudDrive })
            {
                continue
            }
            let path = shown(entry, inventory, area)
            if inventory.problems.contains(where: { path.starts(with: $0.path) }) { continue }
            if hasFile(entry, in: area) { continue }
            report(path, "there is no file for '\(entry.key)'")
        }
    }

    private func shown(_ entry: LedgerEntry, _ inventory: FileInventory, _ area: FilePath)
        -> FilePath
    {
        inventory.place.container == nil
            ? entry.location.relative : inventory.displayed(area.pushing(entry.location.relative))
    }

    /// Files that should be excluded from backups, but are not.
    mutating func findLostMarks() {
        let files = self.files {
            $0.kind == .promoted && $0.isBackedUp && $0.areMarksKnown && !$0.isBackupIntended
        }
        for index in files {
            report(index, "it was opened with the policy to exclude it from backups")
        }
        for (number, folder) in inventory.folders.enumerated()
        where folder.role == .staging && folder.exclusions.isEmpty && folder.areMarksKnown {
            guard folder.parent.map({ inventory.folders[Int($0)].role != .staging }) ?? true else { continue }
            report(
                inventory.path(ofFolder: Int32(number)), "work in progress needs no backup",
                folder: Int32(number))
        }
    }

    /// A cache root that backup programs do not recognise.
    mutating func findMissingTags() {
        for (number, folder) in inventory.folders.enumerated()
        where folder.role == .cachesRoot && folder.areMarksKnown && !folder.exclusions.contains(.cacheTag) {
            report(
                inventory.displayed(inventory.place.areas.caches),
                "there is no valid CACHEDIR.TAG", folder: Int32(number))
        }
    }

    /// A root folder of the cache that another user owns or can write to.
    mutating func findWrongPermissions() {
        for (number, folder) in inventory.folders.enumerated()
        where folder.role == .cachesRoot || folder.role == .supportRoot {
            let path = inventory.path(ofFolder: Int32(number))
            let owner = folder.parent.map { inventory.folders[Int($0)].attributes.owner }
            if !folder.attributes.permissions.isDisjoint(with: [.groupWrite, .otherWrite]) {
                report(path, "others may write to it", folder: Int32(number))
            } else if let owner, owner != folder.attributes.owner {
                let own = folder.attributes.owner
                report(path, "it belongs to user \(own), but its parent folder to user \(owner)")
            }
        }
    }

    /// In milliseconds. Work in progress creates related files within this time.
    static let patience: Int64 = 3_600_000

    /// A file in a folder of the cache that is unknown, or left over from abandoned work.
    mutating func findAbandonedFiles() {
        let isKnown = inventory.isLedgerKnown
        let intents = Set(
            (inventory.ledger?.entries ?? []).lazy.filter { $0.state == .intent }.map(\.stagedName))
        let partials = PartialPairs(inventory)
        let old = options.now - Self.patience
        for index in files(where: { folder(of: $0).role?.isOwn == true }) {
            let file = self.file(index)
            switch file.kind {
            case .foreign, .link, .special:
                guard folder(of: file).role == .files else {
                    reportLeftover(index, "the cache keeps no file of this name here")
                    break
                }
                // An opened file whose key was forgotten is the user's.
                if isKnown { reportLeftover(index, "no key has it; its key may have been forgotten") }
            case .staged where isKnown && file.modified < old && !intents.contains(file.name.string):
                // Files that were moved aside belong to the user, and are moved back when the cache is opened.
                guard CacheFile(file.name, in: .staging) != .aside, !partials.isKept(file) else { continue }
                reportLeftover(index, "no promotion needs it")
            case .partial, .journal:
                if partials.isOrphaned(file) {
                    guard file.modified < old else { continue }
                    reportLeftover(index, "its other half is missing")
                } else if let lock = partials.lock(of: file), !isHeld(lock) {
                    reportLeftover(index, "its writer has died")
                }
            default: break
            }
        }
    }

    /// Reports a file, unless it has disappeared since the walk, which means that it belonged to work in progress.
    private mutating func reportLeftover(_ index: Int32, _ message: String) {
        guard isStillThere(index) else { return }
        let file = self.file(index)
        // What was opened once is the user's.
        let isNobodys = file.kind == .foreign && folder(of: file).role != .files
        report([index], at: inventory.path(of: file), message, isFixable: isNobodys)
    }

    /// Whether a running process holds the lock, which is exclusive. Does not block.
    private mutating func isHeld(_ lock: Int32?) -> Bool {
        guard let lock else { return false }
        let fileSystem = self.fileSystem
        let isFree = look(at: lock) { try fileSystem.lock($0, .shared, waiting: false) }
        // If the file system does not support locks, assume that it is held.
        return isFree != true
    }
}

/// Finds related files in `incoming/` and in staging folders.
private struct PartialPairs {
    private var locks: [String: Int32] = [:]
    private var names: Set<FilePath.Component> = []
    /// The staged files that have a journal, and those that there are.
    private var journaled: Set<FilePath.Component> = []
    private var staged: Set<FilePath.Component> = []

    init(_ inventory: FileInventory) {
        for (index, file) in inventory.files.enumerated()
        where inventory.folders[Int(file.folder)].role == .incoming {
            names.insert(file.name)
            if file.kind == .lock { locks[file.name.stem] = Int32(index) }
        }
        for file in inventory.files where inventory.folders[Int(file.folder)].role == .staging {
            if case .stagedJournal(let name) = CacheFile(file.name, in: .staging) {
                journaled.insert(name)
            } else {
                staged.insert(file.name)
            }
        }
    }

    /// Whether a staged file has a journal: opening the cache removes both when they can no longer be resumed.
    func isKept(_ file: InventoryFile) -> Bool { journaled.contains(file.name) }

    /// Whether a kept partial has no journal, or a journal no partial.
    func isOrphaned(_ file: InventoryFile) -> Bool {
        if case .stagedJournal(let name) = CacheFile(file.name, in: .staging) {
            return !staged.contains(name)
        }
        guard let known = CacheFile(file.name, in: .incoming) else { return false }
        switch known {
        case .keptPartial: return !contains("\(file.name.string).chunks")
        case .journal: return !contains(file.name.stem)
        default: return false
        }
    }

    /// The lock of the process that is writing a partial: `nil` for a kept partial, and `.some(nil)` if the lock is
    /// missing.
    func lock(of file: InventoryFile) -> Int32?? {
        guard CacheFile(file.name, in: .incoming) == .partial else { return nil }
        return .some(locks[String(file.name.string.prefix { $0 != "-" })])
    }

    private func contains(_ name: String) -> Bool {
        FilePath.Component(name).map(names.contains) ?? false
    }
}
