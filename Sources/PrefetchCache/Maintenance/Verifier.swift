internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import Synchronization
internal import SystemPackage

/// Reads every byte of items and promoted files, and compares checksums. Each of its
/// ``CacheEnvironment/parallelism`` threads has one file open at a time and takes about 2 MiB; no use is
/// recorded.
final class Verifier: Sendable {
    /// The time that a promotion may take from the moment in its ledger entry to the last change of the file:
    /// one second, and one more for every 64 MiB. A later change was made by others.
    private static let handingOver: (milliseconds: Int64, bytesPerMillisecond: Int64) = (1000, 64 << 10)

    private let engine: Engine
    private let request: VerificationRequest
    private let report: (@Sendable (VerificationProgress) -> Void)?
    private let isCancelled: @Sendable () -> Bool
    private let codecs = CodecPool(parallelism: 1)
    private let result = Mutex(Result())

    private struct Result: Sendable {
        var report = VerificationReport()
        var files = 0
        var totalFiles = 0
        var totalBytes: Int64?
        var failure: CacheError?
    }

    private var fileSystem: any FileSystem { engine.environment.fileSystem }

    init(
        _ engine: Engine, _ request: VerificationRequest, isCancelled: @escaping @Sendable () -> Bool,
        report: (@Sendable (VerificationProgress) -> Void)?
    ) {
        self.engine = engine
        self.request = request
        self.isCancelled = isCancelled
        self.report = report
    }

    func run() throws(CacheError) -> VerificationReport {
        let start = engine.environment.uptime()
        // Changes that are still in memory need not be written: the walk finds their files on disk.
        var catalog: CatalogView?
        if case .usable(let view) = try CatalogView.look(in: engine.folders) { catalog = view }
        let queue = VerificationQueue(engine.folders, engine.ledger, catalog) { [self] folder, error in
            note(
                VerificationFinding(
                    key: nil, location: folder, isPromoted: false, verdict: .unreadable(error)))
        }
        try estimate(queue, catalog)
        _ = inParallel(max(1, engine.environment.parallelism)) { _ in work(on: queue) }
        let end = engine.environment.uptime()
        return try result.withLock { result throws(CacheError) in
            if let failure = result.failure { throw failure }
            result.report.duration = end - start
            return result.report
        }
    }

    private func estimate(_ queue: VerificationQueue, _ catalog: CatalogView?) throws(CacheError) {
        if let sample = request.sample {
            let count = try queue.choose(sample, seed: request.seed)
            return result.withLock { $0.totalFiles = count }
        }
        let cataloged = try CatalogView.ifThere { () throws(CacheError) in
            try catalog?.read { try $0.itemTotals() }
        }
        var (files, bytes) = cataloged.flatMap(\.self) ?? (0, 0)
        try engine.ledger.forEachCommitted { entry throws(CacheError) in
            files += 1
            bytes += entry.contentLength
        }
        let totals = (files, bytes)
        result.withLock { ($0.totalFiles, $0.totalBytes) = (totals.0, totals.1) }
    }

    private func work(on queue: VerificationQueue) {
        do {
            while result.withLock({ $0.failure == nil }) {
                guard !isCancelled() else { return noteCancelled() }
                guard let subject = try queue.next() else { return }
                switch subject {
                case .item(let hash, let key): try verifyItem(hash, key)
                case .promoted(let entry): try verify(entry)
                }
                noteProgress { $0.files += 1 }
            }
        } catch CacheError.cancelled {
            noteCancelled()
        } catch {
            result.withLock { if $0.failure == nil { $0.failure = error } }
        }
    }

    private func noteCancelled() {
        result.withLock { $0.report.isComplete = false }
    }

    /// - Throws: ``CacheError/cancelled``.
    private func noteRead(_ count: Int) throws(CacheError) {
        if isCancelled() { throw .cancelled }
        noteProgress { $0.report.bytes += Int64(count) }
    }

    private func noteProgress(_ change: (inout Result) -> Void) {
        let progress = result.withLock { result in
            change(&result)
            return VerificationProgress(
                files: result.files, bytes: result.report.bytes,
                totalFiles: max(result.totalFiles, result.files), totalBytes: result.totalBytes)
        }
        report?(progress)
    }

    private func note(_ finding: VerificationFinding) {
        result.withLock { $0.report.findings.append(finding) }
    }

    /// - Parameter key: The key in the catalog. An item without a row may vanish without being missed.
    private func verifyItem(_ hash: KeyHash, _ key: ItemKey?) throws(CacheError) {
        let opened: Descriptor?
        do {
            opened = try engine.folders.openItem(hash)
        } catch {
            return note(
                VerificationFinding(
                    key: key, location: .item(hash), isPromoted: false, verdict: .unreadable(error)))
        }
        guard let file = opened else { return try noteAbsent(hash, key) }
        defer { fileSystem.close(file) }
        var knownKey = key
        do throws(CacheError) {
            try read(file, hash, &knownKey)
            result.withLock { $0.report.verifiedItems += 1 }
        } catch {
            guard error != .cancelled else { throw error }
            try judge(error, hash, knownKey, file)
        }
    }

    /// Reads an item to its end.
    private func read(_ file: Descriptor, _ hash: KeyHash, _ key: inout ItemKey?) throws(CacheError) {
        var failure: CacheError?
        do throws(ItemFormatError) {
            let reader = try ItemReader(file, of: fileSystem, codecs: codecs)
            guard reader.footer.metadata.key.hash == hash else { throw .damaged(.key) }
            key = reader.footer.metadata.key
            try reader.stream(0..<reader.footer.contentLength) { piece throws(ItemFormatError) in
                do throws(CacheError) {
                    try noteRead(piece.count)
                } catch {
                    failure = error
                    throw .notAdmitted
                }
            }
        } catch {
            throw failure ?? .item(error)
        }
    }

    private func judge(_ error: CacheError, _ hash: KeyHash, _ key: ItemKey?, _ file: Descriptor)
        throws(CacheError)
    {
        let identity = try engine.promoter.attributes(of: file).identity
        // Promoted, evicted or replaced meanwhile: a file that was handed over has lost its footer.
        guard try engine.isItem(hash, identity) else { return }
        var finding = VerificationFinding(
            key: key, location: .item(hash), isPromoted: false, verdict: Self.verdict(on: error))
        if request.isRepairing {
            switch finding.verdict {
            case .damaged: finding.isSetAside = try engine.setAside(hash, identity)
            case .missing: try engine.promoter.removeCachedCopy(hash, identity)
            case .modified, .newerFormat, .unreadable: break
            }
        }
        note(finding)
    }

    private static func verdict(on error: CacheError) -> VerificationFinding.Verdict {
        switch error {
        case .item(.purged): .missing
        case .item(.newerVersion(let version)): .newerFormat(version: version)
        case .item(.fileSystem(let error)): .unreadable(.fileSystem(error))
        case .item(let damage): .damaged(damage)
        default: .unreadable(error)
        }
    }

    /// Handles an item whose file is gone, which the catalog may not know yet.
    private func noteAbsent(_ hash: KeyHash, _ key: ItemKey?) throws(CacheError) {
        guard let key, try !engine.promotedKeys.contains(hash) else { return }
        if request.isRepairing { engine.catalog.noteAbsent(hash) }
        note(VerificationFinding(key: key, location: .item(hash), isPromoted: false, verdict: .missing))
    }

    private func verify(_ entry: LedgerEntry) throws(CacheError) {
        let verdict: VerificationFinding.Verdict?
        do {
            // Without coordination, the system might be replacing the file meanwhile.
            verdict = try engine.promoter.coordinated(.readContent, entry) { () throws(CacheError) in
                try self.verdict(on: entry)
            }
        } catch {
            guard error != .cancelled else { throw error }
            verdict = .unreadable(error)
        }
        guard let verdict else { return result.withLock { $0.report.verifiedFiles += 1 } }
        note(
            VerificationFinding(
                key: entry.key, location: engine.promoter.opened(entry, isFirstOpen: false).location,
                isPromoted: true, verdict: verdict))
    }

    /// - Returns: `nil` when nothing is wrong with the file of a promotion.
    private func verdict(on entry: LedgerEntry) throws(CacheError) -> VerificationFinding.Verdict? {
        guard let folder = try engine.promoter.existingFolder(of: entry) else { return .missing }
        let file: Descriptor
        do {
            file = try fileSystem.open(entry.name.path, in: folder.descriptor, .readUnnoticed)
        } catch {
            if error.isNotFound { return .missing }
            if error.isNoRegularFile { return .modified }
            throw .destination(engine.promoter.path(of: entry), error)
        }
        defer { fileSystem.close(file) }
        let attributes = try engine.promoter.attributes(of: file)
        guard attributes.kind == .regular else { return .modified }
        if attributes.length == entry.contentLength, try checksum(of: file) == entry.contentChecksum {
            return nil
        }
        return try isUntouched(file, entry) ? .damaged(.damaged(.chunkContent)) : .modified
    }

    private func checksum(of file: Descriptor) throws(CacheError) -> UInt64 {
        var checksum = ContentChecksum()
        var failure: CacheError?
        do throws(FileSystemError) {
            try fileSystem.forEachPiece(of: file) { piece, _ throws(FileSystemError) in
                checksum.update(piece)
                do throws(CacheError) {
                    try noteRead(piece.count)
                } catch {
                    failure = error
                    throw FileSystemError("read", errno: .canceled)
                }
            }
        } catch {
            throw failure ?? .fileSystem(error)
        }
        return checksum.finalize()
    }

    /// Whether a file is the one that was handed over, and was not written to since: then its content has no
    /// reason to differ. Uses the attributes from after the reading.
    private func isUntouched(_ file: Descriptor, _ entry: LedgerEntry) throws(CacheError) -> Bool {
        let attributes = try engine.promoter.attributes(of: file)
        guard attributes.identity.inode == entry.inode else { return false }
        if let birthTime = entry.birthTime, try engine.promoter.birthTime(of: file) != birthTime {
            return false
        }
        let (margin, speed) = Self.handingOver
        return attributes.modified / 1_000_000 <= entry.openedAt + margin + entry.contentLength / speed
    }
}

extension AreaPath {
    /// The location of an item's file.
    static func item(_ hash: KeyHash) -> AreaPath {
        ours(CacheLayout.items.pushing(CacheLayout.file(of: hash)), in: .caches)
    }

    /// A location below our root in an area.
    static func ours(_ path: FilePath, in area: Area) -> AreaPath {
        guard let location = AreaPath(area: area, relative: CacheLayout.root.pushing(path)) else {
            preconditionFailure("digits and plain names make no component '..'")
        }
        return location
    }
}
