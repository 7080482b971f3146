internal import PrefetchCaching
internal import PrefetchFileSystem
internal import PrefetchStorageAreas
internal import SystemPackage

// The rules of a manifest: without one, they find nothing. Three of them are about the manifest rather than about what a
// file is or where, and so do not keep other rules from reporting the same files: `unexplained`, `over-limit` and
// `purpose-to-do`.

extension Checkup {
    /// A file in another area than the one its entry names.
    mutating func findMisplacedFiles() {
        report(
            { entry, file, _ in entry.area != file.area },
            { entry, area in "it is in \(area.manifestName), but belongs in \(entry.area.manifestName)" },
            remedy: { $0.area.map(Remedy.move) })
    }

    /// A file that is backed up and must not be, or the other way round.
    mutating func findContradictedBackups() {
        report(
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

    /// A file that was not used for longer than its entry allows.
    mutating func findFilesPastTheirTime() {
        let now = options.now
        report(
            { entry, file, accessTime in
                guard let time = entry.unusedFor?.value.start(before: now),
                    max(file.modified, file.since) < time
                else { return false }
                return (accessTime() ?? .min) < time
            },
            { entry, _ in "it has not been used for more than \(entry.unusedFor?.text ?? "")" })
    }

    /// A file that no entry matches.
    mutating func findUnexplainedFiles() {
        guard let purposes = self.purposes else { return }
        let message = "nothing says what it is and why it is stored"
        let files = self.files { $0.kind.ownPurpose == nil }.filter { purposes[$0] == nil }
        // A folder in which nothing is explained is one finding.
        var counts = [Int](repeating: 0, count: inventory.folders.count)
        for file in inventory.files { counts[Int(file.folder)] += 1 }
        for file in files { counts[Int(self.file(file).folder)] -= 1 }
        // Folders come after their parents.
        for number in inventory.folders.indices.reversed() {
            if let parent = inventory.folders[number].parent { counts[Int(parent)] += counts[number] }
        }
        var groups: [Int32: [Int32]] = [:]
        for file in files {
            let outermost = inventory.lineage(ofFolder: self.file(file).folder).first { number in
                let isRoot = inventory.folders[Int(number)].parent == nil || inventory.isRootOfArea(number)
                return counts[Int(number)] == 0 && !isRoot
            }
            if let outermost {
                groups[outermost, default: []].append(file)
            } else {
                let path = inventory.path(of: self.file(file))
                report([file], at: path, message, isClaiming: false)
            }
        }
        for (folder, members) in groups.sorted(by: { $0.key < $1.key }) {
            let path = inventory.path(ofFolder: folder)
            report(members, at: path, message, isClaiming: false)
        }
    }

    /// The files of an entry, which together take more than its limit.
    mutating func findEntriesOverLimit() {
        for (entry, files) in purposes?.files(ofEntries: { $0.limit != nil }) ?? [] {
            guard let limit = entry.limit else { continue }
            let length = files.reduce(0) { $0 + file($1).countedLength }
            guard length > limit.value.bytes else { continue }
            report(
                files, at: FilePath(entry.pattern.text),
                "\(length) bytes are more than the limit of \(limit.text)", isClaiming: false)
        }
    }

    /// An entry whose purpose is not written yet.
    mutating func findUnwrittenPurposes() {
        for (entry, files) in purposes?.files(ofEntries: \.isToDo) ?? [] {
            report(
                files, at: FilePath(entry.pattern.text), "its `what` or `why` is still to be written",
                isClaiming: false)
        }
    }

    /// What the manifest says of a file.
    func entry(of file: Int32) -> StorageManifest.Entry? {
        purposes.flatMap { purposes in purposes[file].map { purposes.manifest.entries[$0] } }
    }

    /// Reports the files, among those that no rule has reported yet, that contradict their entries: one finding for the
    /// files of an entry in an area.
    ///
    /// - Parameter isWrong: Takes the file's entry, the file, and a function that looks up when it was last read, in
    ///   milliseconds since 1970, where that is known.
    private mutating func report(
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
                members, at: place(of: members, entry), message(entry, file(members[0]).area),
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
