internal import FileSystem
internal import PrefetchCache
internal import StorageAreas
internal import SystemPackage

/// A catalog or ledger of an older version.
struct OldFormat: StorageRule {
    let info = RuleInfo(
        name: "old-format", severity: .note,
        explanation: "Stored data has the format of an older version of this package.",
        guideline: Guideline.package,
        fix: "Open the cache once: the ledger is migrated, and the catalog rebuilt.")

    func check(_ checkup: inout Checkup) {
        let areas = checkup.inventory.place.areas
        if let ledger = checkup.inventory.ledger, ledger.isOld {
            checkup.report(
                self, checkup.inventory.displayed(areas.applicationSupport),
                "the ledger has version \(ledger.version)")
        }
        if let version = checkup.inventory.catalogVersion, version < CatalogSnapshot.currentVersion {
            checkup.report(
                self, checkup.inventory.displayed(areas.caches), "the catalog has version \(version)")
        }
    }
}

/// A ledger entry whose file is not there.
struct EntryWithoutFile: StorageRule {
    let info = RuleInfo(
        name: "ledger-entry-without-file", severity: .note,
        explanation: "The ledger has an entry whose file was moved or deleted.",
        guideline: Guideline.package, fix: "Put the file back, or `cachectl forget` its key.")

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        guard let ledger = inventory.ledger else { return }
        // Several keys may have been handed the same file, which bears the number of one entry.
        let found = Set(
            inventory.files.compactMap { $0.facts?.ledgerEntry.map { ledger.entries[Int($0)].location } })
        let staged = Set(inventory.files.lazy.filter { $0.kind == .staged }.map(\.name.string))
        for entry in ledger.entries where !found.contains(entry.location) {
            // One that was begun just now has neither its staged file nor its file yet.
            let isBegun = entry.openedAt > checkup.options.now - Abandoned.patience
            if !entry.isCommitted, isBegun || staged.contains(entry.stagedName) { continue }
            guard let area = inventory.place.areas.path(of: entry.location.area) else { continue }
            // Without an account the folder does not exist, and its files are unknown.
            if entry.location.area == .iCloudDrive,
                !inventory.folders.contains(where: { $0.area == .iCloudDrive })
            {
                continue
            }
            let path = shown(entry, inventory, area)
            if inventory.problems.contains(where: { path.starts(with: $0.path) }) { continue }
            if checkup.hasFile(entry, in: area) { continue }
            checkup.report(self, path, "there is no file for '\(entry.key)'")
        }
    }

    private func shown(_ entry: LedgerSnapshot.Entry, _ inventory: StorageInventory, _ area: FilePath)
        -> FilePath
    {
        inventory.place.container == nil
            ? entry.location.relative : inventory.displayed(area.pushing(entry.location.relative))
    }
}

/// Files that should be excluded from backups and are not.
struct LostExclusionMark: StorageRule {
    let info = RuleInfo(
        name: "exclusion-mark-lost", severity: .warning,
        explanation: "A file that should be excluded from backups has lost its mark.",
        guideline: Guideline.storage,
        fix:
            "`cachectl repair` restores the mark; some ways of saving a file, or of copying a container, lose it."
    )

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        let files = checkup.files {
            $0.kind == .promoted && $0.isBackedUp && $0.areMarksKnown && !$0.isBackupWanted
        }
        for index in files {
            checkup.report(self, index, "it was opened with the policy to exclude it from backups")
        }
        for (number, folder) in inventory.folders.enumerated()
        where folder.role == .staging && folder.exclusions.isEmpty && folder.areMarksKnown {
            guard folder.parent.map({ inventory.folders[Int($0)].role != .staging }) ?? true else { continue }
            checkup.report(
                self, inventory.path(ofFolder: Int32(number)), "work in progress needs no backup")
        }
    }
}
