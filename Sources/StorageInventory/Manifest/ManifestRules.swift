internal import PrefetchCaching
internal import PrefetchStorageAreas
internal import SystemPackage

// The rules of a manifest: without one, they find nothing. Three of them are about the manifest rather than about what a
// file is or where, and so do not keep other rules from reporting the same files: `unexplained`, `over-limit` and
// `purpose-to-do`.

extension Checkup {
    mutating func findMisplacedFiles() {
        report(
            contradictions { $0.area != $1.area },
            { entry, area in "it is in \(area.manifestName), but belongs in \(entry.area.manifestName)" },
            remedy: { $0.area.map(Remedy.move) })
    }

    mutating func findContradictedBackups() {
        report(
            contradictions { entry, file in
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

    mutating func findFilesPastTheirTime() {
        let now = options.now
        func start(_ entry: StorageManifest.Entry?) -> Int64 {
            entry?.unusedFor?.value.start(before: now) ?? .min
        }
        let unchanged = contradictions { max($1.modified, $1.since) < start($0) }
        report(
            unchanged.filter { isUnread($0, since: start(entry(of: $0))) },
            { entry, _ in "it has not been used for more than \(entry.unusedFor?.text ?? "")" },
            remedy: { _ in nil })
    }

    /// The files, among those that no rule has reported yet, that contradict their entries.
    private func contradictions(_ isWrong: (StorageManifest.Entry, InventoryFile) -> Bool) -> [Int] {
        files { _ in true }.filter { index in
            entry(of: index).map { isWrong($0, file(index)) } ?? false
        }
    }

    /// Reports files that contradict their entries: one finding for the files of an entry in an area.
    private mutating func report(
        _ files: [Int], _ message: (StorageManifest.Entry, Area?) -> String,
        remedy: (StorageManifest.Entry) -> Remedy?
    ) {
        let byEntry = Dictionary(grouping: files) { entryNumbers[$0] ?? 0 }
        for (_, files) in byEntry.sorted(by: { $0.key < $1.key }) {
            guard let entry = entry(of: files[0]) else { continue }
            for area in Area.allCases + [nil] {
                let members = files.filter { file($0).area == area }
                guard !members.isEmpty else { continue }
                report(members, at: place(of: members, entry), message(entry, area), remedy: remedy(entry))
            }
        }
    }

    /// The path of the only file, the folder that files have in common, or the pattern of their entry.
    private func place(of files: [Int], _ entry: StorageManifest.Entry) -> FilePath {
        guard files.count > 1 else { return inventory.path(of: file(files[0])) }
        let common = inventory.commonFolder(of: Set(files.map { file($0).folder }))
        let path = common.map(inventory.path(ofFolder:)) ?? ""
        return path.isEmpty ? FilePath(entry.pattern.text) : path
    }

    mutating func findUnexplainedFiles() {
        guard options.manifest != nil else { return }
        let files = self.files { $0.kind.ownPurpose == nil }.filter { entry(of: $0) == nil }
        let explained = Set(inventory.files.indices).subtracting(files)
        let counts = inventory.counts(in: explained.map { file($0).folder })
        // A folder in which nothing is explained is one finding.
        let groups = inventory.outermostFolders { number, folder in
            counts[number] == 0 && folder.parent != nil && !inventory.isRootOfArea(number)
        }
        report(files, byFolder: groups, "nothing says what it is and why it is stored", isClaiming: false)
    }

    mutating func findEntriesOverLimit() {
        for (entry, files) in options.manifest?.files(by: entryNumbers) ?? [] {
            guard let limit = entry.limit else { continue }
            let length = files.reduce(0) { $0 + file($1).countedLength }
            guard length > limit.value.bytes else { continue }
            report(
                files, at: FilePath(entry.pattern.text),
                "\(length) bytes are more than the limit of \(limit.text)", isClaiming: false)
        }
    }

    mutating func findUnwrittenPurposes() {
        let toDo = StorageManifest.Entry.toDo
        for (entry, files) in options.manifest?.files(by: entryNumbers) ?? []
        where entry.what.hasPrefix(toDo) || entry.why.hasPrefix(toDo) {
            let message = "its `what` or `why` is still to be written"
            report(files, at: FilePath(entry.pattern.text), message, isClaiming: false)
        }
    }
}
