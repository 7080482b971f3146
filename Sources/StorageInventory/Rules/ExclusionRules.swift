internal import FileSystem
internal import ItemFormat
internal import PrefetchCache
internal import StorageAreas
internal import SystemPackage

/// Files that the user would miss, excluded from backups.
struct ExcludedUserData: StorageRule {
    let info = RuleInfo(
        name: "user-data-excluded", severity: .error,
        explanation: "A document, or an opened file that should be backed up, is excluded from backups.",
        guideline: Guideline.optimizing,
        fix: "Remove the mark: only files that can be downloaded again may carry it.")

    func check(_ checkup: inout Checkup) {
        let files = checkup.files {
            guard $0.isBackupWanted, !$0.isBackedUp, !$0.exclusions.contains(.area) else { return false }
            switch $0.kind {
            case .promoted, .ledger, .configuration: return true
            case .foreign: return $0.area == .documents
            default: return false
            }
        }
        checkup.report(self, files, byFolder: \.isExcludedItself, "it is marked as excluded from backups")
    }
}

/// Files excluded from backups that are no longer of use.
struct ExcludedUnused: StorageRule {
    let info = RuleInfo(
        name: "excluded-unused", severity: .warning,
        explanation:
            "An excluded file has not been used for long (`--unused-for`), and the system does not purge it.",
        guideline: Guideline.storage, fix: "The app has to delete it: `cachectl purge --excluded`.")

    func check(_ checkup: inout Checkup) {
        let before = checkup.options.now - checkup.options.unusedFor
        let candidates = checkup.files {
            guard !$0.exclusions.isDisjoint(with: .marks), !$0.isPurgeable else { return false }
            return max($0.modified, $0.since) < before
                && ($0.kind == .promoted || $0.kind == .foreign && $0.area != .iCloudDrive)
        }
        var unused: [Int32] = []
        for index in candidates where checkup.folder(of: checkup.file(index)).role != .staging {
            if let accessed = accessTime(index, &checkup), accessed >= before { continue }
            unused.append(index)
        }
        checkup.report(self, unused, byFolder: \.isExcludedItself, "it has not been used for long")
    }

    /// In milliseconds since 1970.
    private func accessTime(_ index: Int32, _ checkup: inout Checkup) -> Int64? {
        let fileSystem = checkup.fileSystem
        let time = checkup.look(at: index) { file throws(ItemFormatError) in
            do throws(FileSystemError) {
                return try fileSystem.accessTime(of: file)
            } catch {
                throw .fileSystem(error)
            }
        }
        return (time ?? nil).map { $0 / 1_000_000 }
    }
}
