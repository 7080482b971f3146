internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

extension Checkup {
    /// Files that the user would miss, excluded from backups. Any other file may be, in any folder.
    mutating func findExcludedUserData() {
        let candidates = files { !$0.isBackedUp && !$0.exclusions.contains(.area) }
        var files: [Int32] = []
        for index in candidates {
            let file = self.file(index)
            switch file.kind {
            case .promoted where file.isBackupIntended, .ledger, .configuration, .history: files.append(index)
            case .promoted, .foreign:
                guard file.isWhereBackedUp, irreplaceability(of: index) != nil else { continue }
                files.append(index)
            default: break
            }
        }
        let folders = inventory.outermostFolders { $1.isExcludedItself }
        report(files, byFolder: folders, "it is marked as excluded from backups")
    }

    /// Files excluded from backups that are no longer used.
    mutating func findUnusedExclusions() {
        let limit = options.unusedFor
        let before = options.now - (limit ?? 30 * 86_400_000)
        let candidates = files {
            guard !$0.exclusions.isDisjoint(with: .marks), !$0.isPurgeable else { return false }
            return max($0.modified, $0.since) < before
                && ($0.kind == .promoted || $0.kind == .foreign && $0.area != .iCloudDrive)
        }
        var unused: [Int32] = []
        for index in candidates where folder(of: file(index)).role != .staging {
            // How long it may stay unused is what its entry in the manifest says: `past-its-time`.
            if entry(of: index)?.unusedFor != nil { continue }
            if let accessed = accessTime(of: index), accessed >= before { continue }
            unused.append(index)
        }
        let folders = inventory.outermostFolders { $1.isExcludedItself }
        report(unused, byFolder: folders, "it has not been used for long", isFixable: limit != nil)
    }

    /// In milliseconds since 1970; `nil` if it is not known.
    mutating func accessTime(of index: Int32) -> Int64? {
        let fileSystem = fileSystem
        let time = look(at: index) { try fileSystem.accessTime(of: $0) }
        return (time ?? nil).map { $0 / 1_000_000 }
    }

    /// Several files of a folder that are excluded from backups one by one.
    mutating func findSingleMarks() {
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
        // Fewer are hardly a group.
        for (folder, count) in marked.sorted(by: { $0.key < $1.key }) where count >= 4 {
            // A mark on the folder is no mark on anything else.
            let isWhole =
                !hasUnmarked[Int(folder)] && !inventory.isRootOfArea(folder)
                && inventory.isNamedForMark(folder, among: places)
            report(
                inventory.path(ofFolder: folder), "\(count) files in it have a mark of their own",
                folder: isWhole ? folder : nil)
        }
    }

    /// An excluded folder in Library whose name could be one of the system's.
    mutating func findExcludedFolderNames() {
        let places = inventory.libraryFolders
        for (number, folder) in inventory.folders.enumerated() {
            guard folder.parent != nil, folder.role?.isOwn != true, folder.isExcludedItself,
                !folder.exclusions.isDisjoint(with: .marks),
                !inventory.isNamedForMark(Int32(number), among: places)
            else { continue }
            report(inventory.path(ofFolder: Int32(number)), "its name could be one of the system's")
        }
    }

    /// Large files in backups that can be downloaded again.
    mutating func findLargeDownloads() {
        let place = inventory.place
        let files = self.files {
            // Over an uplink of 10 Mbit/s, such a file lengthens a backup by 13 seconds.
            $0.length >= 16 << 20 && ($0.kind == .foreign || $0.kind == .promoted)
                && $0.isExposedToBackup(in: place)
        }
        for index in files {
            switch recoverability(of: index) {
            case .recoverable(let evidence): report(index, evidence)
            case .unknown where !file(index).isVisible:
                // The user did not put it there.
                switch type(of: index) {
                case .media?: report(index, "films and sound are usually downloaded")
                case .model?: report(index, "models are usually downloaded")
                default: break
                }
            case .unknown, .irreplaceable: break
            }
        }
    }
}
