internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

// The rules of a manifest: without one, they find nothing. Three of them are about the manifest rather than about what a
// file is or where, and so do not keep other rules from reporting the same files: `unexplained`, `over-limit` and
// `purpose-to-do`.

/// A file in another area than the one its entry names.
struct Misplaced: StorageRule {
    let info = RuleInfo(
        "misplaced", .error, [.t7, .t42, .t43],
        "A file is in another area than its entry in the manifest says (`--manifest`).",
        fix: "Move it, change the entry's `path` and the code that writes it; or correct the entry's `area`.")

    func check(_ checkup: inout Checkup) {
        checkup.report(
            self, { entry, file, _ in entry.area != file.area },
            { entry, area in "it is in \(area.manifestName), but belongs in \(entry.area.manifestName)" },
            remedy: { $0.area.map(Remedy.move) })
    }
}

/// A file that is backed up and must not be, or the other way round.
struct BackupContradictsManifest: StorageRule {
    let info = RuleInfo(
        "backup-contradicts-manifest", .error, [.t8, .g0b, .g4c],
        "Backups contain a file and must not, or lack one that they must contain, by the manifest.",
        fix: "Mark it as excluded, or remove the mark; or correct the entry's `backup`.")

    func check(_ checkup: inout Checkup) {
        checkup.report(
            self,
            { entry, file, _ in
                switch entry.backup {
                case .include: !file.isBackedUp
                case .exclude: file.isBackedUp && file.areMarksKnown
                case .system: false
                }
            },
            { entry, _ in
                entry.backup == .include
                    ? "no backup has it, but backups must" : "it is backed up, but must not be"
            }, remedy: { $0.backup == .include ? .include : .exclude })
    }
}

/// A file that was not used for longer than its entry allows.
struct PastItsTime: StorageRule {
    let info = RuleInfo(
        "past-its-time", .warning, [.t6, .g4e, .b7],
        "A file has not been used for longer than its entry in the manifest allows (`unusedFor`).",
        fix: "Delete it, and let the app do so in future.", by: .discard)

    func check(_ checkup: inout Checkup) {
        let now = checkup.options.now
        checkup.report(
            self,
            { entry, file, accessTime in
                guard let time = entry.unusedFor?.value.start(before: now),
                    max(file.modified, file.since) < time
                else { return false }
                return (accessTime() ?? .min) < time
            },
            { entry, _ in "it has not been used for more than \(entry.unusedFor?.text ?? "")" })
    }
}

/// A file that no entry matches.
struct Unexplained: StorageRule {
    let info = RuleInfo(
        "unexplained", .warning, [.t1, .t5, .t6],
        "No entry of the manifest explains a file (`--manifest`).",
        fix: "Add an entry that says what it is and why it is stored; or delete it.")

    func check(_ checkup: inout Checkup) {
        guard let purposes = checkup.purposes else { return }
        let inventory = checkup.inventory
        let files = checkup.files { $0.kind.ownPurpose == nil }.filter { purposes[$0] == nil }
        // A folder in which nothing is explained is one finding.
        var counts = [Int](repeating: 0, count: inventory.folders.count)
        for file in inventory.files { counts[Int(file.folder)] += 1 }
        for file in files { counts[Int(checkup.file(file).folder)] -= 1 }
        // Folders come after their parents.
        for number in inventory.folders.indices.reversed() {
            if let parent = inventory.folders[number].parent { counts[Int(parent)] += counts[number] }
        }
        var groups: [Int32: [Int32]] = [:]
        for file in files {
            let outermost = inventory.lineage(ofFolder: checkup.file(file).folder).first { number in
                let isRoot = inventory.folders[Int(number)].parent == nil || inventory.isRootOfArea(number)
                return counts[Int(number)] == 0 && !isRoot
            }
            if let outermost {
                groups[outermost, default: []].append(file)
            } else {
                let path = inventory.path(of: checkup.file(file))
                checkup.report(self, [file], at: path, message, isClaiming: false)
            }
        }
        for (folder, members) in groups.sorted(by: { $0.key < $1.key }) {
            let path = inventory.path(ofFolder: folder)
            checkup.report(self, members, at: path, message, isClaiming: false)
        }
    }

    private let message = "nothing says what it is and why it is stored"
}

/// The files of an entry, which together take more than its limit.
struct OverLimit: StorageRule {
    let info = RuleInfo(
        "over-limit", .warning, [.t1, .g0b, .g4e],
        "The files of an entry in the manifest take more than its `limit` together.",
        fix: "Let the app delete what it can do without; or raise the entry's `limit`.")

    func check(_ checkup: inout Checkup) {
        for (entry, files) in checkup.purposes?.files(ofEntries: { $0.limit != nil }) ?? [] {
            guard let limit = entry.limit else { continue }
            let length = files.reduce(0) { $0 + checkup.file($1).countedLength }
            guard length > limit.value.bytes else { continue }
            checkup.report(
                self, files, at: FilePath(entry.pattern.text),
                "\(length) bytes are more than the limit of \(limit.text)", isClaiming: false)
        }
    }
}

/// An entry whose purpose is not written yet.
struct PurposeToDo: StorageRule {
    let info = RuleInfo(
        "purpose-to-do", .note, [.t5],
        "An entry of the manifest still says TODO.",
        fix: "Write what the files are, and why they are stored.")

    func check(_ checkup: inout Checkup) {
        for (entry, files) in checkup.purposes?.files(ofEntries: \.isToDo) ?? [] {
            checkup.report(
                self, files, at: FilePath(entry.pattern.text), "its `what` or `why` is still to be written",
                isClaiming: false)
        }
    }
}

extension Checkup {
    /// What the manifest says of a file.
    func entry(of file: Int32) -> StorageManifest.Entry? {
        purposes.flatMap { purposes in purposes[file].map { purposes.manifest.entries[$0] } }
    }

    /// Reports the files, among those that no rule has reported yet, that contradict their entries: one finding for the
    /// files of an entry in an area.
    ///
    /// - Parameter isWrong: Takes the file's entry, the file, and a function that looks up when it was last read, in
    ///   milliseconds since 1970, where that is known.
    fileprivate mutating func report(
        _ rule: some StorageRule,
        _ isWrong: (StorageManifest.Entry, InventoryFile, () -> Int64?) -> Bool,
        _ message: (StorageManifest.Entry, Area?) -> String,
        remedy: (StorageManifest.Entry) -> Remedy? = { _ in nil }
    ) {
        guard let purposes else { return }
        var groups: [EntryInArea: [Int32]] = [:]
        for index in files(where: { _ in true }) {
            guard let entry = purposes[index] else { continue }
            let file = file(index)
            if isWrong(purposes.manifest.entries[entry], file, { accessTime(of: index) }) {
                groups[EntryInArea(entry: entry, area: file.area?.rawValue ?? .max), default: []].append(
                    index)
            }
        }
        for (group, members) in groups.sorted(by: {
            ($0.key.entry, $0.key.area) < ($1.key.entry, $1.key.area)
        }) {
            let entry = purposes.manifest.entries[group.entry]
            report(
                rule, members, at: place(of: members, entry), message(entry, file(members[0]).area),
                remedy: remedy(entry))
        }
    }

    /// The path of the only file, the folder that files have in common, or the pattern of their entry.
    private func place(of files: [Int32], _ entry: StorageManifest.Entry) -> FilePath {
        guard files.count > 1 else { return inventory.path(of: file(files[0])) }
        var common = inventory.lineage(ofFolder: file(files[0]).folder)
        var last = file(files[0]).folder
        for next in files where file(next).folder != last {
            last = file(next).folder
            let others = Set(inventory.lineage(ofFolder: last))
            common.removeAll { !others.contains($0) }
        }
        let path = common.last.map(inventory.path(ofFolder:)) ?? ""
        return path.isEmpty ? FilePath(entry.pattern.text) : path
    }
}

/// The files that make one finding.
private struct EntryInArea: Hashable {
    /// The number of the entry.
    let entry: Int
    let area: UInt8
}
