internal import FileSystem
internal import ItemFormat
internal import StorageAreas
internal import Synchronization
internal import SystemPackage

/// The files to verify, handed out one by one to several threads. At any time the names of one of the 256
/// folders, or those of the sample, are in memory.
final class VerificationQueue: Sendable {
    enum Subject: Sendable, Hashable {
        /// An item's file, and its key if the catalog knows it.
        case item(KeyHash, key: ItemKey?)
        case promoted(LedgerEntry)
    }

    private struct State: Sendable {
        var ready: [Subject] = []
        var nextFolder = 0
        /// Where the walk through the ledger has got to, by the hash of the last promotion that was handed
        /// out.
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

    /// - Parameter noteUnreadable: Receives the folders that cannot be listed. What the catalog knows in them is handed
    ///   out all the same.
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
        var found: [KeyHash: ItemKey?] = [:]
        let cataloged = try CatalogView.ifThere { () throws(CacheError) in
            try catalog?.read { try $0.knownItems(range) }
        }
        for (hash, known) in cataloged.flatMap(\.self) ?? [:] { found[hash] = .some(key(known.key)) }
        let items = folders.current.items
        let name = CacheLayout.folder(of: range.lowerBound)
        do throws(FileSystemError) {
            let entries = try items.open(name).map { folder throws(FileSystemError) in
                try items.fileSystem.entries(of: folder.descriptor)
            }
            for entry in entries ?? [] {
                guard let hash = KeyHash(hexadecimal: entry.name.string), range.contains(hash) else {
                    continue
                }
                if found[hash] == nil { found[hash] = .some(nil) }
            }
        } catch {
            noteUnreadable(.ours(CacheLayout.items.pushing(name), in: .caches), .fileSystem(error))
        }
        return found.map { .item($0.key, key: $0.value) }
    }

    private func key(_ text: String) -> ItemKey? {
        do { return try ItemKey(text) } catch { return nil }
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

/// The elements of lowest rank among all that were offered, independent of their order.
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
