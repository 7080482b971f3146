internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import SystemPackage

/// Repairs what an inspection of the disk finds to be wrong, and reports it. Takes the usual locks, so that others may
/// use the cache meanwhile; foreign files are not touched.
///
/// Each part finds first and acts second, and a dry run does not act. Used by one thread.
final class Repair {
    private let engine: Engine
    private let log: RepairLog
    private let keepsQuarantined: Bool

    private var isDryRun: Bool { log.isDryRun }
    private var fileSystem: any FileSystem { engine.environment.fileSystem }

    init(_ engine: Engine, isDryRun: Bool, keepingQuarantined keepsQuarantined: Bool) {
        self.engine = engine
        self.keepsQuarantined = keepsQuarantined
        log = RepairLog(isDryRun: isDryRun)
    }

    func run() throws(CacheError) -> RepairReport {
        engine.promoter.recovery.run(log, isThorough: true)
        // Before anything else is removed, since the rows of those files are deleted with them.
        log.attempt(.catalog) { () throws(CacheError) in try forgetLostFiles() }
        log.attempt(.incoming) { () throws(CacheError) in try removeOrphans() }
        log.attempt(.incoming) { () throws(CacheError) in try removeUnusablePartials() }
        log.attempt(.catalog) { () throws(CacheError) in try repairCatalog() }
        if !keepsQuarantined { log.attempt(.quarantine) { () throws(CacheError) in try emptyQuarantine() } }
        log.attempt(.catalog) { () throws(CacheError) in try recount() }
        log.attempt(.staging) { () throws(CacheError) in try renewMarks() }
        if !isDryRun { try engine.flush() }
        return log.report
    }
}

extension Engine {
    /// - Parameters:
    ///   - isDryRun: If `true`, only reports what would be done.
    ///   - keepsQuarantined: Whether quarantined items stay.
    func repair(isDryRun: Bool, keepingQuarantined keepsQuarantined: Bool = false) throws(CacheError)
        -> RepairReport
    {
        try Repair(self, isDryRun: isDryRun, keepingQuarantined: keepsQuarantined).run()
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
            try engine.catalog.transaction { _ = try reconciler.fill($0) }
        case .missing: try rebuildCatalog("there was none")
        case .unusable(let reason): try rebuildCatalog(reason)
        }
    }

    private func rebuildCatalog(_ reason: String) throws(CacheError) {
        _ = try compare(nil)
        // An empty cache needs no catalog.
        if reason == "there was none", try isEmpty() { return }
        log.note(.catalogRebuilt, .catalog, reason)
        guard !isDryRun else { return }
        let root = engine.folders.current.root
        let identity = try onFiles(CatalogFile.identity(in: root))
        try engine.catalog.discard(identity)
        try engine.catalog.reading { _ in }
    }

    private func isEmpty() throws(CacheError) -> Bool {
        let folders = engine.folders.current
        return try onFiles { () throws(FileSystemError) in
            for prefix in try folders.itemFolderNumbers() {
                if try folders.itemFolder(prefix)?.hashes.isEmpty == false { return false }
            }
            return true
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
            let range = KeyHash.range(inFolder: prefix)
            var known = try view?.read { try $0.knownItems(range) } ?? [:]
            let folder = CacheLayout.items.pushing(CacheLayout.folder(of: range.lowerBound))
            log.attempt(.ours(folder, in: .caches)) { () throws(CacheError) in
                let hashes = try onFiles(engine.folders.current.itemFolder(prefix)?.hashes ?? [])
                for hash in hashes.sorted() {
                    let row = known.removeValue(forKey: hash)
                    log.attempt(.item(hash)) { () throws(CacheError) in
                        if try inspect(hash, row, hasCatalog: view != nil) { isWrong = true }
                    }
                }
                for (hash, row) in known.sorted(by: { $0.key < $1.key }) {
                    guard let view, try view.read({ try $0.knownItems(hash...hash)[hash] }) == row,
                        try !engine.isCached(hash)
                    else { continue }
                    isWrong = true
                    log.note(.rowRemoved, .item(hash), key: row.itemKey)
                }
            }
        }
        return isWrong
    }

    /// Inspects a file: a damaged one may still have the length in its row.
    ///
    /// - Returns: Whether its row is wrong.
    private func inspect(_ hash: KeyHash, _ known: CatalogView.Known?, hasCatalog: Bool)
        throws(CacheError) -> Bool
    {
        guard let file = try engine.folders.openItem(hash) else { return false }
        defer { fileSystem.close(file) }
        let found = try engine.files.attributes(of: file)
        guard found.kind == .regular else { return false }
        let finding = try onItem(engine.catalog.reconciler.inspect(file, hash))
        if case .item(let row) = finding {
            let age = engine.environment.now() - found.modified / 1_000_000
            guard hasCatalog, row.storedBytes != known?.storedBytes,
                !(0..<Self.unstableMilliseconds).contains(age)
            else { return false }
            log.note(known == nil ? .rowAdded : .rowCorrected, .item(hash), key: row.metadata?.key)
            return true
        }
        guard try engine.isItem(hash, found.identity) else { return false }
        if case .damaged(let error) = finding {
            if !isDryRun { try engine.moveToQuarantine(hash, found.identity) }
            log.note(.itemQuarantined, .item(hash), key: known?.itemKey, error.description)
            // The next step removes quarantined items.
            if isDryRun, !keepsQuarantined {
                let there = CacheLayout.quarantine.appending(hash.inQuarantine.hexadecimal)
                log.note(.quarantinedItemRemoved, .ours(there, in: .caches))
            }
        } else {
            if !isDryRun { try engine.cachedCopies.remove(hash, found.identity, because: .purged) }
            log.note(.purgedItemRemoved, .item(hash), key: known?.itemKey)
        }
        return false
    }

    /// Reconciles the sums of the catalog with its rows, and these with the blocks of the volume.
    func recount() throws(CacheError) {
        if isDryRun {
            // A catalog that would be rebuilt has no sums to check.
            guard !log.report.steps.contains(where: { $0.action == .catalogRebuilt }),
                case .usable(let view) = try CatalogView.look(in: engine.folders)
            else { return }
            return noteWrongSums(try view.read { try wrongSums($0) })
        }
        guard
            try onFiles(CatalogFile.identity(in: engine.folders.current.root)) != nil
        else { return }
        noteWrongSums(try engine.catalog.reading { try wrongSums($0) })
        guard log.report.steps.contains(where: { $0.action == .statisticsCorrected }) else { return }
        try engine.catalog.transaction { transaction in
            try engine.catalog.recharge(transaction)
            try transaction.recount()
        }
    }

    private func noteWrongSums(_ wrongSums: String?) {
        if let wrongSums { log.note(.statisticsCorrected, .catalog, wrongSums) }
    }

    private func wrongSums(_ transaction: CatalogTransaction) throws -> String? {
        let (charged, actual) = (try transaction.blockSize(), engine.charge.blockSize)
        // Larger blocks are corrected whenever the catalog is opened.
        if charged > actual { return "charged in blocks of \(charged) bytes rather than \(actual)" }
        return try transaction.hasWrongSums() ? "the sums were not those of the rows" : nil
    }
}

/// The leftovers of dead writers in `incoming/`, and the quarantine.
extension Repair {
    /// Removes the partials and lock files of writers that have died.
    func removeOrphans() throws(CacheError) {
        let incoming = engine.folders.current.incoming
        let swept = try onFiles(WriterSession.sweep(incoming, isDryRun: isDryRun))
        for leftover in swept.leftovers {
            let lock = CacheLayout.incoming.pushing(CacheLayout.lock(session: leftover.session))
            log.note(.fileSystem(leftover.error), .ours(lock, in: .caches))
        }
        for name in swept.removed.sorted(by: { $0.string < $1.string }) {
            log.note(
                .partialRemoved, .ours(CacheLayout.incoming.appending(name), in: .caches),
                name.extension == "lock"
                    ? "the lock of a writer that is no more" : "of a writer that is no more")
        }
    }

    /// Removes kept partials that can never be resumed. The others stay for the next download.
    func removeUnusablePartials() throws(CacheError) {
        let incoming = engine.folders.current.incoming
        let files = PartialFiles(incoming: incoming)
        let reconciler = PartialReconciler(
            folders: engine.folders, environment: engine.environment, charge: engine.charge)
        let hashes = try onFiles(files.hashes())
        for hash in hashes {
            let place = AreaPath.ours(
                CacheLayout.incoming.pushing(CacheLayout.keptPartial(of: hash)), in: .caches)
            log.attempt(place) { () throws(CacheError) in
                guard try reconciler.isUnusable(hash) else { return }
                if !isDryRun {
                    let removal = try engine.locks.hold(hash.ofPartial) { () throws(CacheError) in
                        try engine.removeCachedPartial(hash)
                    }
                    guard removal == .removed else { return }
                }
                log.note(.partialRemoved, place, "it can never be resumed")
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
            log.attempt(place) { () throws(CacheError) in
                guard let found = try engine.files.attributes(of: name, in: folder), found.kind == .regular
                else { return }
                if !isDryRun {
                    try engine.locks.hold(hash) { () throws(CacheError) in
                        try engine.catalog.removing(hash.inQuarantine) { place throws(CacheError) in
                            guard try engine.files.discard(name, in: folder) else {
                                return engine.catalog.noteUnclear(hash.inQuarantine, at: place)
                            }
                            engine.catalog.noteRemoved(hash, because: .request, at: place)
                        }
                    }
                }
                log.note(.quarantinedItemRemoved, place)
            }
        }
    }

    /// Deletes the rows of files that the system has removed from `incoming/` and the quarantine.
    func forgetLostFiles() throws(CacheError) {
        guard case .usable(let view) = try CatalogView.look(in: engine.folders) else { return }
        var lost: [KeyHash: CatalogRow.Kind] = [:]
        for (hash, file) in try view.read({ try $0.knownBesidesItems() }) where file.kind != .newerPartial {
            if try isLost(hash, file.kind) { lost[hash] = file.kind }
        }
        guard !lost.isEmpty else { return }
        for (hash, kind) in lost.sorted(by: { $0.key < $1.key }) {
            log.note(.rowRemoved, .ours(place(of: hash, kind), in: .caches))
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

/// The marks that exclude files from backups.
extension Repair {
    /// Restores lost backup marks. A file that was there before, or that the user has changed or replaced, is the
    /// user's own and belongs in backups.
    func renewMarks() throws(CacheError) {
        for folder in try onFiles(engine.destinations.support.stagingFolders()) {
            let place = engine.promoter.recovery.leftovers.location(of: folder)
            log.attempt(place) { () throws(CacheError) in
                try renewMark(of: folder.descriptor, at: place, key: nil)
            }
        }
        let support = engine.destinations.support
        let renewed = [Area.documents, .applicationSupport].filter(renewExclusion)
        try engine.ledger.forEachCommitted { entry throws(CacheError) in
            guard entry.isExcluded else { return }
            // A dry run sees the folder as it is.
            if renewed.contains(entry.area), support.isBelowExcludedFolder(entry.folder, in: entry.area) {
                return
            }
            let place = entry.location
            log.attempt(place) { () throws(CacheError) in
                try engine.promoter.locks.holdIfFree(entry.key.hash) { () throws(CacheError) in
                    // Forgotten, or included for another key, since the ledger was read.
                    guard try engine.ledger.entry(for: entry.key) == entry else { return }
                    try renewMark(of: entry, at: place)
                }
            }
        }
    }

    /// - Returns: Whether the folder of an area that backups exclude had lost its mark.
    private func renewExclusion(in area: Area) -> Bool {
        let support = engine.destinations.support
        guard let name = support.areas.excludedFolder(in: area),
            let place = AreaPath(
                area: area, relative: SupportFolders.relativePath(in: area, nil).pushing(name.path))
        else { return false }
        var isRenewed = false
        log.attempt(place) { () throws(CacheError) in
            try onFiles { () throws(FileSystemError) in
                guard let folder = try support.folder(name, in: area) else { return }
                isRenewed = try support.renewExclusion(folder, isDryRun: isDryRun)
            }
            if isRenewed { log.note(.markRestored, place, key: nil) }
        }
        return isRenewed
    }

    private func renewMark(of entry: LedgerEntry, at place: AreaPath) throws(CacheError) {
        guard let folder = try engine.destinations.existingFolder(of: entry),
            let file = try engine.files.openWithoutAccessTime(entry, in: folder)
        else { return }
        defer { fileSystem.close(file) }
        guard try onFiles(engine.files.isUnmarked(file, of: entry)) else { return }
        switch try onFiles(engine.files.judge.verdict(on: file, of: entry)) {
        case .untouched: try renewMark(of: file, at: place, key: entry.key)
        case .changed: log.skip(place, entry.key, "its content is not what was opened: backups keep it")
        case .replaced:
            log.skip(place, entry.key, "another file has taken its place: backups keep it")
        }
    }

    private func renewMark(of file: Descriptor, at place: AreaPath, key: ItemKey?) throws(CacheError) {
        guard try onFiles(BackupMark(fileSystem: fileSystem).policy(of: file)) == .include else { return }
        if !isDryRun {
            let isMarked = try onFiles { () throws(FileSystemError) in
                guard try engine.files.mark(file, .exclude) else { return false }
                try fileSystem.synchronize(file)
                return true
            }
            // The file system does not support the mark.
            guard isMarked else { return }
        }
        log.note(.markRestored, place, key: key)
    }
}
