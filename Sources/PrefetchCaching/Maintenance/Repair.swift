internal import Logging
internal import PrefetchFileSystem
public import PrefetchItemFormat
public import PrefetchStorageAreas
internal import SystemPackage

/// What a repair did, or would do, file by file.
public struct RepairReport: Hashable, Sendable {
    /// One repair of one file.
    public struct Step: Hashable, Sendable {
        /// What was done, or would be.
        public let action: Action
        /// The location of the file, which may be gone.
        public let location: AreaPath
        /// The key of the item; `nil` if unknown.
        public let key: ItemKey?
        /// Details, if there are any.
        public let remark: String?
    }

    /// The kinds of repairs. The raw values are stable names.
    public enum Action: String, Hashable, Sendable, CaseIterable {
        /// A promotion that a crash interrupted is completed, or undone if it failed.
        case promotionResolved
        /// A file in a staging folder that belongs to no promotion is removed.
        case stagedFileRemoved
        /// A partial of a dead writer, or a kept partial that can never be resumed, is removed.
        case partialRemoved
        /// An item with a damaged footer is moved to the quarantine.
        case itemQuarantined
        /// An item that the system has emptied is removed.
        case purgedItemRemoved
        /// A missing row of an item is added to the catalog.
        case rowAdded
        /// The row of a file that is gone is removed from the catalog.
        case rowRemoved
        /// The catalog's row of an item is corrected to match its file.
        case rowCorrected
        /// The catalog is rebuilt from the items.
        case catalogRebuilt
        /// The sums of the catalog are corrected to match its rows, and its charges the volume's smaller blocks.
        case statisticsCorrected
        /// A quarantined item is removed.
        case quarantinedItemRemoved
        /// The lost mark of a file or folder that is excluded from backups is restored.
        case markRestored
    }

    /// A part that could not be inspected or repaired.
    public struct Failure: Hashable, Sendable {
        /// The location of the failure.
        public let location: AreaPath
        /// Why it could not be inspected or repaired.
        public let error: CacheError
    }

    /// The repairs, in order.
    public internal(set) var steps: [Step] = []
    /// What could not be inspected or repaired.
    public internal(set) var failures: [Failure] = []
}

/// Repairs what an inspection of the disk finds to be wrong, and reports it. Takes the usual locks, so that others may
/// use the cache meanwhile; foreign files are not touched.
///
/// Each part finds first and acts second, and a dry run does not act. Used by one thread.
final class Repair {
    let engine: Engine
    let isDryRun: Bool
    var report = RepairReport()

    var environment: CacheEnvironment { engine.environment }
    var fileSystem: any FileSystem { engine.environment.fileSystem }

    init(_ engine: Engine, isDryRun: Bool) {
        self.engine = engine
        self.isDryRun = isDryRun
    }

    func run() throws(CacheError) -> RepairReport {
        let staging = AreaPath.ours(CacheLayout.staging, in: .applicationSupport)
        let incoming = AreaPath.ours(CacheLayout.incoming, in: .caches)
        attempt(staging) { () throws(CacheError) in try resolvePromotions() }
        // Before anything else is removed, since the rows of those files are deleted with them.
        attempt(.catalog) { () throws(CacheError) in try forgetLostFiles() }
        attempt(incoming) { () throws(CacheError) in try removeOrphans() }
        attempt(incoming) { () throws(CacheError) in try removeUnusablePartials() }
        attempt(.catalog) { () throws(CacheError) in try repairCatalog() }
        attempt(.quarantine) { () throws(CacheError) in try emptyQuarantine() }
        attempt(.catalog) { () throws(CacheError) in try recount() }
        attempt(staging) { () throws(CacheError) in try renewMarks() }
        if !isDryRun { try engine.flush() }
        return report
    }

    func note(
        _ action: RepairReport.Action, _ location: AreaPath, key: ItemKey? = nil, _ remark: String? = nil
    ) {
        report.steps.append(.init(action: action, location: location, key: key, remark: remark))
    }

    /// Runs one part of the repair. A failure is reported, and does not prevent the other parts.
    func attempt(_ location: AreaPath, _ body: () throws(CacheError) -> Void) {
        do {
            try body()
        } catch {
            report.failures.append(.init(location: location, error: error))
        }
    }
}

extension AreaPath {
    static let catalog = ours(FilePath(CacheLayout.catalog), in: .caches)
    static let quarantine = ours(CacheLayout.quarantine, in: .caches)
}

extension Engine {
    /// Runs all parts of a repair.
    ///
    /// - Parameter isDryRun: If `true`, only reports what would be done.
    func repair(isDryRun: Bool) throws(CacheError) -> RepairReport {
        try Repair(self, isDryRun: isDryRun).run()
    }
}

/// The catalog and the items: a row for each item, and correct sums.
extension Repair {
    /// The age, in milliseconds, below which a file's writer may not have written its row yet.
    private static let unstableMilliseconds: Int64 = 10_000

    func repairCatalog() throws(CacheError) {
        switch try CatalogView.look(in: engine.folders, isThorough: true) {
        case .usable(let view):
            guard try compare(view), !isDryRun else { return }
            let reconciler = engine.catalog.reconciler
            _ = try engine.catalog.transaction { try reconciler.fill($0, ordering: .mostRecent) }
        case .missing: try remake("there was none")
        case .unusable(let reason): try remake(reason)
        }
    }

    private func remake(_ reason: String) throws(CacheError) {
        _ = try compare(nil)
        // An empty cache needs no catalog.
        if reason == "there was none", try isEmpty() { return }
        note(.catalogRebuilt, .catalog, reason)
        guard !isDryRun else { return }
        let root = engine.folders.current.root
        let identity = try onFiles(CatalogFile.identity(in: root))
        try engine.catalog.discard(identity)
        try engine.catalog.reading { _ in }
    }

    private func isEmpty() throws(CacheError) -> Bool {
        let there = try onFiles(engine.folders.current.itemFolderNumbers())
        for prefix in there where try !files(inFolder: prefix).isEmpty { return false }
        return true
    }

    private struct ItemFile {
        let hash: KeyHash
        let attributes: FileAttributes
    }

    private func files(inFolder prefix: UInt8) throws(CacheError) -> [KeyHash: ItemFile] {
        let range = KeyHash.range(inFolder: prefix)
        let items = engine.folders.current.items
        return try onFiles { () throws(FileSystemError) in
            var files: [KeyHash: ItemFile] = [:]
            guard let folder = try items.open(CacheLayout.folder(of: range.lowerBound)) else { return files }
            for entry in try fileSystem.entries(of: folder.descriptor) {
                guard let hash = KeyHash(hexadecimal: entry.name.string), range.contains(hash),
                    let attributes = try fileSystem.attributes(
                        of: FilePath(root: nil, [entry.name]), in: folder.descriptor),
                    attributes.kind == .regular
                else { continue }
                files[hash] = ItemFile(hash: hash, attributes: attributes)
            }
            return files
        }
    }

    /// Compares all items with the catalog, and removes emptied and quarantines damaged ones.
    ///
    /// - Parameter view: `nil` when there is no catalog to compare with.
    /// - Returns: Whether a row is missing, wrong or superfluous.
    private func compare(_ view: CatalogView?) throws(CacheError) -> Bool {
        var isWrong = false
        for prefix in 0...UInt8.max {
            // The rows first: files stored later are recognised by their age.
            var known = try view?.read { try $0.knownItems(KeyHash.range(inFolder: prefix)) } ?? [:]
            let first = KeyHash.range(inFolder: prefix).lowerBound
            let folder = CacheLayout.items.pushing(CacheLayout.folder(of: first))
            attempt(.ours(folder, in: .caches)) { () throws(CacheError) in
                for (hash, file) in try files(inFolder: prefix).sorted(by: { $0.key < $1.key }) {
                    let row = known.removeValue(forKey: hash)
                    attempt(.item(hash)) { () throws(CacheError) in
                        if try inspect(file, row, hasCatalog: view != nil) { isWrong = true }
                    }
                }
                for (hash, row) in known.sorted(by: { $0.key < $1.key }) {
                    guard let view, try view.read({ try $0.knownItems(hash...hash)[hash] }) == row,
                        try attributes(hash) == nil
                    else { continue }
                    isWrong = true
                    note(.rowRemoved, .item(hash), key: key(row.key))
                }
            }
        }
        return isWrong
    }

    private func attributes(_ hash: KeyHash) throws(CacheError) -> FileAttributes? {
        try engine.files.attributes(of: CacheLayout.file(of: hash), in: engine.folders.current.items)
    }

    private func key(_ text: String) -> ItemKey? {
        do { return try ItemKey(text) } catch { return nil }
    }

    /// Inspects a file: a damaged one may still have the length in its row.
    ///
    /// - Returns: Whether its row is wrong.
    private func inspect(_ file: ItemFile, _ row: CatalogView.Known?, hasCatalog: Bool)
        throws(CacheError) -> Bool
    {
        guard let opened = try engine.folders.openItem(file.hash) else { return false }
        defer { fileSystem.close(opened) }
        let identity = try engine.files.attributes(of: opened).identity
        do throws(ItemFormatError) {
            let footer = try ItemReader(opened, of: fileSystem, codecs: engine.codecs).footer
            guard footer.metadata.key.hash == file.hash else { throw .damaged(.key) }
            if let row, row.storedBytes == file.attributes.length { return false }
            let age = environment.now() - file.attributes.modified / 1_000_000
            guard hasCatalog, !(0..<Self.unstableMilliseconds).contains(age) else { return false }
            note(row == nil ? .rowAdded : .rowCorrected, .item(file.hash), key: footer.metadata.key)
            return true
        } catch {
            guard try engine.isItem(file.hash, identity) else { return false }
            switch error {
            case .newerVersion: return false
            case .purged:
                if !isDryRun { try engine.cachedCopies.remove(file.hash, identity) }
                note(.purgedItemRemoved, .item(file.hash), key: row.flatMap { key($0.key) })
                return false
            case .damaged:
                if !isDryRun { try engine.moveToQuarantine(file.hash, identity) }
                note(.itemQuarantined, .item(file.hash), key: row.flatMap { key($0.key) }, error.description)
                // The next step removes quarantined items.
                if isDryRun {
                    let name = file.hash.inQuarantine.hexadecimal
                    note(
                        .quarantinedItemRemoved,
                        .ours(CacheLayout.quarantine.appending(name), in: .caches))
                }
                return false
            case .fileSystem(let error): throw .fileSystem(error)
            default: throw .item(error)
            }
        }
    }

    /// Reconciles the sums of the catalog with its rows, and these with the blocks of the volume.
    func recount() throws(CacheError) {
        if isDryRun {
            // A catalog that would be rebuilt has no sums to check.
            guard !report.steps.contains(where: { $0.action == .catalogRebuilt }),
                case .usable(let view) = try CatalogView.look(in: engine.folders)
            else { return }
            return note(try view.read { try wrongSums($0) })
        }
        guard
            try onFiles(CatalogFile.identity(in: engine.folders.current.root)) != nil
        else { return }
        note(
            try engine.catalog.reading { try wrongSums($0) })
        guard report.steps.contains(where: { $0.action == .statisticsCorrected }) else { return }
        try engine.catalog.transaction { transaction in
            try engine.catalog.recharge(transaction)
            try transaction.recount()
        }
    }

    private func note(_ wrongSums: [String]) {
        guard !wrongSums.isEmpty else { return }
        note(.statisticsCorrected, .catalog, wrongSums.joined(separator: ", "))
    }

    private func wrongSums(_ transaction: CatalogTransaction) throws -> [String] {
        let (charged, actual) = (try transaction.blockSize(), engine.charge.blockSize)
        // Larger blocks are corrected whenever the catalog is opened.
        let blocks = charged > actual ? ["charged in blocks of \(charged) bytes rather than \(actual)"] : []
        return blocks + (try transaction.wrongSums())
    }
}

/// The leftovers of dead writers in `incoming/`, and the quarantine.
extension Repair {
    /// Removes the partials and lock files of writers that have died.
    func removeOrphans() throws(CacheError) {
        let incoming = engine.folders.current.incoming
        let orphans = try onFiles(WriterSession.orphans(in: incoming))
        let leftovers = try onFiles { () throws(FileSystemError) in
            isDryRun ? [] : try WriterSession.sweep(incoming)
        }
        for leftover in leftovers {
            let place = CacheLayout.incoming.pushing(CacheLayout.lock(session: leftover.session))
            attempt(.ours(place, in: .caches)) { () throws(CacheError) in
                throw .fileSystem(leftover.error)
            }
        }
        for name in orphans.sorted(by: { $0.string < $1.string }) {
            let path = FilePath(root: nil, [name])
            if !isDryRun, try engine.files.attributes(of: path, in: incoming) != nil { continue }
            let isLock = name.extension == "lock"
            note(
                .partialRemoved, .ours(CacheLayout.incoming.appending(name), in: .caches),
                isLock ? "the lock of a writer that is no more" : "of a writer that is no more")
        }
    }

    /// Removes kept partials that can never be resumed. The others stay for the next download.
    func removeUnusablePartials() throws(CacheError) {
        let incoming = engine.folders.current.incoming
        let files = PartialFiles(incoming: incoming)
        let reconciler = PartialReconciler(
            folders: engine.folders, environment: environment, charge: engine.charge)
        let hashes = try onFiles(files.hashes())
        for hash in hashes {
            let place = AreaPath.ours(
                CacheLayout.incoming.pushing(CacheLayout.keptPartial(of: hash)), in: .caches)
            attempt(place) { () throws(CacheError) in
                guard try reconciler.isUnusable(hash) else { return }
                if !isDryRun {
                    let removal = try engine.locks.hold(hash.ofPartial) { () throws(CacheError) in
                        let removal = try onFiles(files.remove(hash))
                        if removal == .removed { engine.catalog.notePartialGone(hash) }
                        return removal
                    }
                    guard removal == .removed else { return }
                }
                note(.partialRemoved, place, "it can never be resumed")
            }
        }
    }

    /// Removes the quarantined items.
    func emptyQuarantine() throws(CacheError) {
        let root = engine.folders.current.root
        let opened = try onFiles(root.open(CacheLayout.quarantine))
        guard let folder = opened else { return }
        let entries = try onFiles(fileSystem.entries(of: folder.descriptor))
        for entry in entries.sorted(by: { $0.name.string < $1.name.string }) {
            guard let hash = KeyHash(hexadecimal: entry.name.string) else { continue }
            let place = AreaPath.ours(CacheLayout.quarantine.appending(entry.name), in: .caches)
            let name = FilePath(root: nil, [entry.name])
            attempt(place) { () throws(CacheError) in
                guard let found = try engine.files.attributes(of: name, in: folder), found.kind == .regular
                else { return }
                if !isDryRun {
                    try engine.locks.hold(hash) { () throws(CacheError) in
                        guard try engine.files.discard(name, in: folder) else { return }
                        engine.catalog.noteRemoved(hash)
                    }
                }
                note(.quarantinedItemRemoved, place)
            }
        }
    }

    /// Deletes the rows of files that the system has removed from `incoming/` and the quarantine.
    func forgetLostFiles() throws(CacheError) {
        guard case .usable(let view) = try CatalogView.look(in: engine.folders) else { return }
        var lost: [KeyHash: CatalogRow.Kind] = [:]
        for (hash, kind) in try view.read({ try $0.nonItemFiles() }) where try isLost(hash, kind) {
            lost[hash] = kind
        }
        guard !lost.isEmpty else { return }
        for (hash, kind) in lost.sorted(by: { $0.key < $1.key }) {
            note(.rowRemoved, .ours(place(of: hash, kind), in: .caches))
        }
        guard !isDryRun else { return }
        try engine.catalog.transaction { transaction in
            // A writer that creates such a file again writes its row after this.
            for (hash, kind) in lost where try isLost(hash, kind) {
                try transaction.deleteRow(hash)
            }
        }
    }

    private func isLost(_ hash: KeyHash, _ kind: CatalogRow.Kind) throws(CacheError) -> Bool {
        guard kind == .partial else {
            return try engine.files.attributes(of: place(of: hash, kind), in: engine.folders.current.root)
                == nil
        }
        let state = try onFiles(engine.catalog.files.state(ofPartial: hash))
        if case .absent = state { return true }
        return false
    }

    /// The path below the cache's folder.
    private func place(of hash: KeyHash, _ kind: CatalogRow.Kind) -> FilePath {
        kind == .partial
            ? CacheLayout.incoming.pushing(CacheLayout.keptPartial(of: hash.ofPartial))
            : CacheLayout.quarantine.appending(hash.hexadecimal)
    }
}
