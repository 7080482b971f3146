internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

/// Files that the user would miss, excluded from backups. Any other file may be, in any folder.
struct ExcludedUserData: StorageRule {
    let info = RuleInfo(
        "user-data-excluded", .error, [.t8, .g4b, .b10],
        "A file that cannot be downloaded again, or that should be backed up, is excluded from backups.",
        fix: "Remove the mark: only files that can be downloaded again may carry it.", by: .include)

    func check(_ checkup: inout Checkup) {
        let candidates = checkup.files { !$0.isBackedUp && !$0.exclusions.contains(.area) }
        var files: [Int32] = []
        for index in candidates {
            let file = checkup.file(index)
            switch file.kind {
            case .promoted where file.isBackupIntended, .ledger, .configuration, .history: files.append(index)
            case .promoted, .foreign:
                guard file.isWhereBackedUp, checkup.irreplaceability(of: index) != nil else { continue }
                files.append(index)
            default: break
            }
        }
        let folders = checkup.inventory.outermostFolders { $1.isExcludedItself }
        checkup.report(self, files, byFolder: folders, "it is marked as excluded from backups")
    }
}

/// Files excluded from backups that are no longer used.
struct ExcludedUnused: StorageRule {
    let info = RuleInfo(
        "excluded-unused", .warning, [.g4e],
        "An excluded file has not been used for long (`--unused-for`), and the system does not purge it.",
        fix: "The app has to delete it: `cachectl purge --excluded`, or `--fix` with `--unused-for`.",
        by: .discard)

    /// In milliseconds.
    private static let patience: Int64 = 30 * 86_400_000

    func check(_ checkup: inout Checkup) {
        let limit = checkup.options.unusedFor
        let before = checkup.options.now - (limit ?? Self.patience)
        let candidates = checkup.files {
            guard !$0.exclusions.isDisjoint(with: .marks), !$0.isPurgeable else { return false }
            return max($0.modified, $0.since) < before
                && ($0.kind == .promoted || $0.kind == .foreign && $0.area != .iCloudDrive)
        }
        var unused: [Int32] = []
        for index in candidates where checkup.folder(of: checkup.file(index)).role != .staging {
            // How long it may stay unused is what its entry in the manifest says: `PastItsTime`.
            if checkup.entry(of: index)?.unusedFor != nil { continue }
            if let accessed = checkup.accessTime(of: index), accessed >= before { continue }
            unused.append(index)
        }
        let folders = checkup.inventory.outermostFolders { $1.isExcludedItself }
        checkup.report(
            self, unused, byFolder: folders, "it has not been used for long", isFixable: limit != nil)
    }
}

extension Checkup {
    /// In milliseconds since 1970; `nil` if it is not known.
    mutating func accessTime(of index: Int32) -> Int64? {
        let fileSystem = fileSystem
        let time = look(at: index) { try fileSystem.accessTime(of: $0) }
        return (time ?? nil).map { $0 / 1_000_000 }
    }
}

/// Several files of a folder that are excluded from backups one by one.
struct ExcludedOneByOne: StorageRule {
    let info = RuleInfo(
        "excluded-one-by-one", .note, [.b13],
        "Files of one folder are excluded from backups one by one.",
        fix: "Put them into a folder of their own, and mark that: a file that is saved anew loses its mark.",
        by: .exclude)

    /// Fewer are hardly a group.
    private static let least = 4

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        var marked: [Int32: Int] = [:]
        var hasUnmarked = [Bool](repeating: false, count: inventory.folders.count)
        for file in inventory.files {
            let isMarked = file.kind == .foreign && !file.exclusions.isDisjoint(with: .marks)
            if !isMarked { hasUnmarked[Int(file.folder)] = true }
            guard isMarked, !file.isVisible else { continue }
            let folder = inventory.folders[Int(file.folder)]
            guard folder.exclusions.isDisjoint(with: .marks), folder.role?.isOwn != true else { continue }
            marked[file.folder, default: 0] += 1
        }
        // Folders come after their parents.
        for number in inventory.folders.indices.reversed() where hasUnmarked[number] {
            if let parent = inventory.folders[number].parent { hasUnmarked[Int(parent)] = true }
        }
        let places = inventory.libraryFolders
        for (folder, count) in marked.sorted(by: { $0.key < $1.key }) where count >= Self.least {
            // A mark on the folder is no mark on anything else.
            let isWhole =
                !hasUnmarked[Int(folder)] && !inventory.isRootOfArea(folder)
                && inventory.isNamedForMark(folder, among: places)
            checkup.report(
                self, inventory.path(ofFolder: folder), "\(count) files in it have a mark of their own",
                folder: isWhole ? folder : nil)
        }
    }
}

/// An excluded folder in Library whose name could be one of the system's.
struct ExcludedFolderName: StorageRule {
    let info = RuleInfo(
        "excluded-folder-name", .warning, [.b14],
        "A folder in Library that is excluded from backups is not named by the app's bundle identifier.",
        fix: "Rename it to the bundle identifier, such as `org.example.app`, or move it into such a folder.")

    func check(_ checkup: inout Checkup) {
        let inventory = checkup.inventory
        let places = inventory.libraryFolders
        for (number, folder) in inventory.folders.enumerated() {
            guard folder.parent != nil, folder.role?.isOwn != true, folder.isExcludedItself,
                !folder.exclusions.isDisjoint(with: .marks),
                !inventory.isNamedForMark(Int32(number), among: places)
            else { continue }
            checkup.report(
                self, inventory.path(ofFolder: Int32(number)), "its name could be one of the system's")
        }
    }
}

/// Large files in backups that can be downloaded again.
struct LargeDownloadBackedUp: StorageRule {
    let info = RuleInfo(
        "large-download-backed-up", .warning, [.t8, .g0b, .b1, .b9],
        "A large file (16 MiB or more) that can be downloaded again is backed up.",
        fix: "Mark it: `isExcludedFromBackup`, or as an item the policy `exclude`. Or keep it in Caches.",
        by: .exclude)

    /// In bytes. Over an uplink of 10 Mbit/s, a file of this length lengthens a backup by 13 seconds.
    private static let least: Int64 = 16 << 20

    func check(_ checkup: inout Checkup) {
        let place = checkup.inventory.place
        let files = checkup.files {
            $0.length >= Self.least && ($0.kind == .foreign || $0.kind == .promoted)
                && $0.isExposedToBackup(in: place)
        }
        for index in files {
            switch checkup.recoverability(of: index) {
            case .recoverable(let evidence): checkup.report(self, index, evidence)
            case .unknown where !checkup.file(index).isVisible:
                // The user did not put it there.
                switch checkup.type(of: index) {
                case .media?: checkup.report(self, index, "films and sound are usually downloaded")
                case .model?: checkup.report(self, index, "models are usually downloaded")
                default: break
                }
            case .unknown, .irreplaceable: break
            }
        }
    }
}
