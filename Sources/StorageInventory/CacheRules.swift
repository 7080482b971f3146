internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

// What is wrong with the cache itself.

extension Checkup {
    mutating func findOldFormats() {
        if let version = inventory.catalogVersion, version < CatalogSnapshot.currentVersion {
            report([], at: Area.caches.folderInContainer, "the catalog has version \(version)")
        }
    }

    mutating func findMissingTags() {
        for (number, folder) in inventory.folders.enumerated()
        where folder.role == .cachesRoot && folder.areMarksKnown && !folder.exclusions.contains(.cacheTag) {
            report([], at: Area.caches.folderInContainer, "there is no valid CACHEDIR.TAG", folder: number)
        }
    }

    mutating func findWrongPermissions() {
        for (number, folder) in inventory.folders.enumerated()
        where folder.role == .cachesRoot || folder.role == .supportRoot {
            let own = folder.attributes.owner
            if !folder.attributes.permissions.isDisjoint(with: [.groupWrite, .otherWrite]) {
                report([], "others may write to it", folder: number)
            } else if let owner = inventory.parent(of: folder)?.attributes.owner, owner != own {
                let message = "it belongs to user \(own), but its parent folder to user \(owner)"
                report([], message, folder: number, isFixable: false)
            }
        }
    }

    mutating func findEntriesWithoutFiles() {
        guard let ledger = inventory.ledger else { return }
        // Several keys may share a file, whose facts refer to only one of their entries.
        let found = Set(inventory.files.compactMap { inventory.ledgerEntry(of: $0)?.location })
        let staged = Set(inventory.files.lazy.filter { $0.kind == .staged }.map(\.name.string))
        for entry in ledger.entries where !found.contains(entry.location) {
            // A promotion that has just begun has neither its staged file nor its final file yet.
            let isBegun = entry.openedAt > options.now - Self.patience
            if entry.state == .intent, isBegun || staged.contains(entry.stagedName) { continue }
            let area = entry.location.area
            guard inventory.place.areas.path(of: area) != nil else { continue }
            // If the user is not signed in to iCloud, the folder does not exist, and its files are unknown.
            if area == .iCloudDrive, !hasCloudFolder { continue }
            let path = area.folderInContainer.pushing(entry.location.relative)
            if inventory.problems.contains(where: { path.starts(with: $0.path) }) { continue }
            if !hasFile(entry) { report([], at: path, "there is no file for '\(entry.key)'") }
        }
    }

    /// Whether the file of a ledger entry exists now: it may have been published after the walk. Returns `true` if this
    /// cannot be determined.
    private func hasFile(_ entry: LedgerEntry) -> Bool {
        do {
            let path = entry.location.relative
            guard let name = path.lastComponent,
                let folder = try inventory.openFolder(of: entry.location.area, in: fileSystem)?
                    .open(path.removingLastComponent())
            else { return false }
            return try fileSystem.attributes(of: FilePath(root: nil, [name]), in: folder.descriptor) != nil
        } catch {
            return !error.isNotFound
        }
    }

    mutating func findLostMarks() {
        let files = self.files {
            $0.kind == .promoted && $0.isBackedUp && $0.areMarksKnown && !$0.isBackupIntended
        }
        // What became its user's belongs in backups, and `cachectl repair` leaves it there, too.
        let lost = files.filter {
            entry(of: $0)?.backup != .include && verdict(on: $0) == .untouched
                && irreplaceability(of: $0) == nil
        }
        let bundles = Set(
            (inventory.ledger?.entries ?? []).lazy.filter { !$0.parts.isEmpty }.map(inventory.path(of:)))
        report(
            lost,
            byFolder: inventory.outermostFolders { number, _ in
                !lost.isEmpty && !bundles.isEmpty && bundles.contains(inventory.path(ofFolder: number))
            }, "backups contain it, though it was opened to be excluded from them")
        for (number, folder) in inventory.folders.enumerated()
        where folder.role == .staging && folder.exclusions.isEmpty && folder.areMarksKnown
            && inventory.parent(of: folder)?.role != .staging
        {
            report([], "work in progress needs no backup", folder: number)
        }
    }

    /// In milliseconds. Work in progress creates related files within this time.
    static let patience: Int64 = 3_600_000

    mutating func findAbandonedFiles() {
        let entries = inventory.ledger?.entries ?? []
        let intents = Set(entries.lazy.filter { $0.state == .intent }.map(\.stagedName))
        // The files of work in progress, and the staged files that have a journal.
        var names: [String: Int] = [:]
        var journaled: Set<FilePath.Component> = []
        for (index, file) in inventory.files.enumerated() {
            guard let role = folder(of: file).role, role == .incoming || role == .staging else { continue }
            names[file.name.string] = index
            if case .stagedJournal(let name) = CacheFile(file.name, in: role) { journaled.insert(name) }
        }
        for index in files(where: { folder(of: $0).role?.isOwn == true }) {
            let file = self.file(index)
            guard let role = folder(of: file).role else { continue }
            let isOld = file.modified < options.now - Self.patience
            switch (file.kind, CacheFile(file.name, in: role)) {
            case (.foreign, _), (.link, _), (.special, _):
                if role != .files {
                    reportLeftover(index, "the cache keeps no file of this name here")
                } else if inventory.isLedgerKnown {
                    // An opened file whose key was forgotten is the user's.
                    reportLeftover(index, "no key has it; its key may have been forgotten")
                }
            // Files that were moved aside belong to the user, and are moved back when the cache is opened. It also
            // removes what can no longer be resumed, with its journal.
            case (.staged, .staged(let name)?):
                if inventory.isLedgerKnown, isOld, !intents.contains(name), !journaled.contains(file.name) {
                    reportLeftover(index, "no promotion needs it")
                }
            case (_, .partial?):
                let session = file.name.string.prefix { $0 != "-" }
                if !isHeld(names["\(session).lock"]) { reportLeftover(index, "its writer has died") }
            case (_, .keptPartial?) where isOld && names["\(file.name.string).chunks"] == nil,
                (_, .journal?) where isOld && names[file.name.stem] == nil:
                reportLeftover(index, "its other half is missing")
            case (_, .stagedJournal(let name)?) where isOld && names[name.string] == nil:
                reportLeftover(index, "its other half is missing")
            default: break
            }
        }
    }

    /// Reports a file, unless it has disappeared since the walk, which means that it belonged to work in progress.
    private mutating func reportLeftover(_ index: Int, _ message: String) {
        guard isStillThere(index) else { return }
        let file = self.file(index)
        // What was opened once is the user's.
        report([index], message, isFixable: file.kind == .foreign && folder(of: file).role != .files)
    }

    /// Whether a running process holds the lock, which is exclusive. Does not block.
    private mutating func isHeld(_ lock: Int?) -> Bool {
        guard let lock else { return false }
        let isFree = look(at: lock) { try $1.lock($0, .shared, waiting: false) }
        // If the file system does not support locks, assume that it is held.
        return isFree != true
    }
}
