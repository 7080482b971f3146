internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchStorageAreas
internal import Synchronization
internal import SystemPackage

/// Reads every byte of items and promoted files, and compares checksums. Each of its
/// ``CacheEnvironment/parallelism`` threads has one file open at a time and takes about 2 MiB; no use is
/// recorded.
final class Verifier: Sendable {
    /// The time that a promotion may take from the moment in its ledger entry to the last change of the file: one
    /// second, and one more for every 64 MiB. Any later change was made by others.
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
            try catalog?.read { try $0.statistics() }
        }
        var (files, bytes) = cataloged.flatMap(\.self).map { ($0.items, $0.contentBytes) } ?? (0, 0)
        try engine.ledger.forEachCommitted { entry throws(CacheError) in
            files += 1
            bytes += entry.contentBytes
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

    /// - Parameter key: The key in the catalog. An item without a row that vanishes is not reported.
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
        var pieces = try onItem { () throws(ItemFormatError) in
            let reader = try ItemReader(file, of: fileSystem, codecs: codecs)
            guard reader.footer.metadata.key.hash == hash else { throw .damaged(.key) }
            key = reader.footer.metadata.key
            return try reader.pieces(of: 0..<reader.footer.contentBytes)
        }
        while let piece = try onItem(pieces.next()) {
            try noteRead(piece.count)
        }
    }

    private func judge(_ error: CacheError, _ hash: KeyHash, _ key: ItemKey?, _ file: Descriptor)
        throws(CacheError)
    {
        let identity = try engine.files.attributes(of: file).identity
        // Promoted, evicted or replaced meanwhile: a promoted file has lost its footer.
        guard try engine.isItem(hash, identity) else { return }
        var finding = VerificationFinding(
            key: key, location: .item(hash), isPromoted: false, verdict: Self.verdict(on: error))
        if request.isRepairing {
            switch finding.verdict {
            case .damaged: finding.isQuarantined = try engine.moveToQuarantine(hash, identity)
            case .missing: try engine.cachedCopies.remove(hash, identity, because: .purged)
            case .modified, .notOnDevice, .newerFormat, .unreadable: break
            }
        }
        note(finding)
    }

    private static func verdict(on error: CacheError) -> VerificationFinding.Verdict {
        switch error {
        case .item(.purged): .missing
        case .item(.newerVersion(let version)): .newerFormat(version: version)
        case .item(.fileSystem(let error)): .unreadable(CacheError.fileSystem(error).reported)
        case .item(let damage): .damaged(damage)
        default: .unreadable(error.reported)
        }
    }

    /// Handles an item whose file is gone, which the catalog may not have noted yet.
    private func noteAbsent(_ hash: KeyHash, _ key: ItemKey?) throws(CacheError) {
        guard let key, try engine.promotedKeys.entry(for: hash) == nil else { return }
        if request.isRepairing { engine.catalog.noteAbsent(hash) }
        note(VerificationFinding(key: key, location: .item(hash), isPromoted: false, verdict: .missing))
    }

    private func verify(_ entry: LedgerEntry) throws(CacheError) {
        let verdict: VerificationFinding.Verdict?
        do {
            // Without coordination, the system might be replacing the file meanwhile. With it, it downloads the file.
            verdict =
                if try isDataless(entry) { .notOnDevice } else {
                    try engine.destinations.coordinated(.readContent, entry) { () throws(CacheError) in
                        try self.verdict(on: entry)
                    }
                }
        } catch {
            guard error != .cancelled else { throw error }
            verdict = .unreadable(error.reported)
        }
        guard let verdict else { return result.withLock { $0.report.verifiedFiles += 1 } }
        note(
            VerificationFinding(
                key: entry.key, location: entry.location,
                isPromoted: true, verdict: verdict))
    }

    private func isDataless(_ entry: LedgerEntry) throws(CacheError) -> Bool {
        guard let folder = try engine.destinations.existingFolder(of: entry) else { return false }
        return try engine.files.attributes(of: entry, in: folder)?.isDataless ?? false
    }

    /// - Returns: `nil` when nothing is wrong with the file of a promotion.
    private func verdict(on entry: LedgerEntry) throws(CacheError) -> VerificationFinding.Verdict? {
        guard let folder = try engine.destinations.existingFolder(of: entry) else { return .missing }
        let file: Descriptor
        do {
            file = try fileSystem.open(entry.name.path, in: folder.descriptor, entry.examiningMode)
        } catch {
            if error.isNotFound { return .missing }
            if error.isNotRegularFile { return .modified }
            throw .destination(engine.destinations.path(of: entry), error)
        }
        defer { fileSystem.close(file) }
        let attributes = try engine.files.attributes(of: file)
        guard attributes.kind == entry.kind else { return .modified }
        guard !entry.parts.isEmpty else {
            if attributes.length == entry.contentBytes, try checksum(of: file) == entry.contentChecksum {
                return try verdict(onWholeContentOf: file, entry)
            }
            return try isUntouched(file, entry) ? .damaged(.damaged(.chunkContent)) : .modified
        }
        let bundle = BundleFolder(file, entry.parts, fileSystem)
        guard let checksum = try checksum(bundle.forEachPiece) else { return .modified }
        if checksum == entry.contentChecksum { return try verdict(onWholeContentOf: file, entry) }
        let isUntouched = try isUntouched(file, entry)
        let areUntouched = try onFiles(
            bundle.forEachFile { part, _ throws(FileSystemError) in
                isHandedOver(try fileSystem.attributes(of: part), entry)
            })
        return isUntouched && areUntouched ? .damaged(.damaged(.chunkContent)) : .modified
    }

    /// - Returns: `nil` unless another file has taken the place of the one that was promoted.
    private func verdict(onWholeContentOf file: Descriptor, _ entry: LedgerEntry) throws(CacheError)
        -> VerificationFinding.Verdict?
    {
        guard entry.origin == .written, try onFiles(!engine.files.judge.isItself(file, of: entry)) else {
            return nil
        }
        return .modified
    }

    private func checksum(of file: Descriptor) throws(CacheError) -> UInt64? {
        try checksum { body throws(FileSystemError) in
            try fileSystem.forEachPiece(of: file) { piece, _ throws(FileSystemError) in try body(piece) }
            return true
        }
    }

    /// - Parameter read: Hands the content to a function; returns whether there is all of it.
    private func checksum(
        _ read: ((UnsafeRawBufferPointer) throws(FileSystemError) -> Void) throws(FileSystemError) -> Bool
    ) throws(CacheError) -> UInt64? {
        var checksum = ContentChecksum()
        var failure: CacheError?
        do throws(FileSystemError) {
            let isWhole = try read { piece throws(FileSystemError) in
                checksum.update(piece)
                do throws(CacheError) {
                    try noteRead(piece.count)
                } catch {
                    failure = error
                    throw FileSystemError("read", errno: .canceled)
                }
            }
            return isWhole ? checksum.finalize() : nil
        } catch {
            throw failure ?? .fileSystem(error)
        }
    }

    /// Whether a file is the one that was promoted and was not written to since, so that differing content means
    /// damage. Uses the attributes from after reading.
    private func isUntouched(_ file: Descriptor, _ entry: LedgerEntry) throws(CacheError) -> Bool {
        let attributes = try engine.files.attributes(of: file)
        guard attributes.identity.inode == entry.inode else { return false }
        if let birthTime = entry.birthTime, try engine.files.birthTime(of: file) != birthTime {
            return false
        }
        return isHandedOver(attributes, entry)
    }

    /// Whether a file was last written when it was promoted.
    private func isHandedOver(_ attributes: FileAttributes, _ entry: LedgerEntry) -> Bool {
        let (margin, speed) = Self.handingOver
        return attributes.modified / 1_000_000 <= entry.openedAt + margin + entry.contentBytes / speed
    }
}

/// The files to verify, distributed one by one to several threads. At any time the names of one of the 256 folders, or
/// those of the sample, are in memory.
final class VerificationQueue: Sendable {
    enum Subject: Sendable, Hashable {
        /// An item's file, and its key if the catalog knows it.
        case item(KeyHash, key: ItemKey?)
        case promoted(LedgerEntry)
    }

    private struct State: Sendable {
        var ready: [Subject] = []
        var nextFolder = 0
        /// The position in the ledger: the hash of the last promotion that was distributed.
        var ledger: LedgerCursor = .after(nil)
    }

    private enum LedgerCursor: Sendable {
        case after(KeyHash?)
        case end
    }

    private let folders: CacheFolders
    private let ledger: any PromotionLedger
    private let catalog: CatalogView?
    private let noteUnreadable: @Sendable (AreaPath, CacheError) -> Void
    private let state = Mutex(State())

    /// - Parameter noteUnreadable: Receives the folders that cannot be listed. Files in them that the catalog lists are
    ///   distributed nevertheless.
    init(
        _ folders: CacheFolders, _ ledger: any PromotionLedger, _ catalog: CatalogView?,
        noteUnreadable: @escaping @Sendable (AreaPath, CacheError) -> Void
    ) {
        self.noteUnreadable = noteUnreadable
        self.folders = folders
        self.ledger = ledger
        self.catalog = catalog
    }

    /// - Returns: The next file; `nil` at the end.
    func next() throws(CacheError) -> Subject? {
        try state.withLock { state throws(CacheError) in
            while state.ready.isEmpty {
                if state.nextFolder <= Int(UInt8.max) {
                    state.ready = try items(inFolder: UInt8(state.nextFolder))
                    state.nextFolder += 1
                } else if case .after(let hash) = state.ledger {
                    let entries = try ledger.committed(after: hash, atMost: 256)
                    state.ready = entries.reversed().map(Subject.promoted)
                    state.ledger = entries.last.map { .after($0.key.hash) } ?? .end
                } else {
                    return nil
                }
            }
            return state.ready.removeLast()
        }
    }

    /// Visits all files and keeps a sample of them.
    ///
    /// - Returns: How many files there are to verify.
    func choose(_ count: Int, seed: UInt64) throws(CacheError) -> Int {
        var sample = RandomSample<Subject>(count)
        while let subject = try next() { sample.offer(subject, rank: subject.rank(seed: seed)) }
        let chosen = sample.elements
        state.withLock { $0.ready = chosen }
        return chosen.count
    }

    private func items(inFolder prefix: UInt8) throws(CacheError) -> [Subject] {
        let range = KeyHash.range(inFolder: prefix)
        let cataloged = try CatalogView.ifThere { () throws(CacheError) in
            try catalog?.read { try $0.knownItems(range) }
        }
        var found = (cataloged.flatMap(\.self) ?? [:]).mapValues(\.itemKey)
        do throws(FileSystemError) {
            for hash in try folders.current.itemFolder(prefix)?.hashes ?? [] where found[hash] == nil {
                found[hash] = .some(nil)
            }
        } catch {
            let folder = CacheLayout.items.pushing(CacheLayout.folder(of: range.lowerBound))
            noteUnreadable(.ours(folder, in: .caches), .fileSystem(error))
        }
        return found.map { .item($0.key, key: $0.value) }
    }
}

extension VerificationQueue.Subject {
    /// A pseudo-random number that depends only on the file and the seed: SplitMix64's finaliser (Steele, Lea
    /// and Flood 2014).
    fileprivate func rank(seed: UInt64) -> UInt64 {
        let (hash, kind): (KeyHash, UInt64) =
            switch self {
            case .item(let hash, _): (hash, 0)
            case .promoted(let entry): (entry.key.hash, 1)
            }
        var word = (hash.high ^ hash.low &* 3) &+ (seed &+ kind) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}

/// The elements of lowest rank among all that were offered, regardless of the order.
struct RandomSample<Element> {
    private let count: Int
    private var kept: [(element: Element, rank: UInt64)] = []

    init(_ count: Int) {
        self.count = max(0, count)
    }

    /// - Complexity: O(log *count*) on average.
    mutating func offer(_ element: Element, rank: UInt64) {
        kept.append((element, rank))
        // Sorts in large batches, so that each offer costs little.
        if kept.count / 2 >= max(count, 512) { cut() }
    }

    private mutating func cut() {
        kept.sort { $0.rank < $1.rank }
        kept.removeLast(max(0, kept.count - count))
    }

    var elements: [Element] {
        var sample = self
        sample.cut()
        return sample.kept.map(\.element)
    }
}
