internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching

/// What workers did, as `store` prints it.
struct WorkReport: StressReporting {
    var stored = 0
    var refusals: [String: Int] = [:]
    var cancelled = 0
    var hits = 0
    var misses = 0
    var removed = 0
    var opened = 0
    /// What the system took away while it was stored.
    var purged = 0
    /// What has to be there at the end, by its key.
    var keepsakes: [String: Keepsake] = [:]
    /// Content that is not what was stored.
    var wrong = 0
    /// What must never be: errors, and such content.
    var faults: [String] = []

    mutating func add(_ other: WorkReport) {
        stored += other.stored
        refusals.merge(other.refusals, uniquingKeysWith: +)
        cancelled += other.cancelled
        hits += other.hits
        misses += other.misses
        removed += other.removed
        opened += other.opened
        purged += other.purged
        keepsakes.merge(other.keepsakes) { $1 }
        wrong += other.wrong
        faults += other.faults
    }

    fileprivate mutating func noteWrong(_ fault: String) {
        wrong += 1
        faults.append(fault)
    }

    fileprivate mutating func note(_ outcome: StoreOutcome) {
        switch outcome {
        case .stored, .delivered: stored += 1
        case .refused(let refusal): note(refusal)
        }
    }

    fileprivate mutating func note(_ refusal: Refusal) {
        refusals[refusal.reason, default: 0] += 1
    }
}

/// One task that stores, reads, removes and opens at random. All workers share the keys of what they
/// store, but for keepsakes; what is opened has keys of its own, for it is no longer cached then.
struct Worker: Stressing {
    /// So many that most of what is stored stays; few where what is mixed up is to be met soon.
    private var sharedKeys: Int { options.isMixingUp ? 20 : 800 }
    private static let keepsakes = 12

    struct Options {
        /// Whether a purger is at work as well.
        var isPurged = false
        /// Whether it has keys of its own. Nobody may evict what is old, or all, then.
        var hasKeepsakes = false
        /// Whether something else is stored under a key now and then, for the checks to see.
        var isMixingUp = false
    }

    /// So much is shared before the first keepsake, so that there is always something else to evict.
    private var firstShared: Int { options.isMixingUp ? 0 : 15 }

    private let cache: PrefetchCache
    private let name: String
    private let options: Options
    private var generator: SeededGenerator
    private var openedCount = 0
    private var keepsakes: [String: Keepsake] = [:]
    private var counts = WorkReport()

    var report: WorkReport {
        get {
            var report = counts
            report.keepsakes = keepsakes
            return report
        }
        set { counts = newValue }
    }

    var isPurged: Bool { options.isPurged }

    init(_ cache: PrefetchCache, name: String, seed: UInt64, _ options: Options) {
        self.cache = cache
        self.name = name
        self.options = options
        generator = SeededGenerator(seed: seed)
    }

    mutating func step() async throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<35: try await excusing { try await $0.storeWhole($0.sharedKey()) }
        case 35..<60: try await excusing { try await $0.storeInPieces($0.sharedKey()) }
        case 60..<80: try await read(sharedKey())
        case 80..<86: counts.removed += try await cache.remove(sharedKey()) ? 1 : 0
        case 86..<96:
            if options.hasKeepsakes, counts.stored > firstShared { try await useKeepsake() }
        default: try await storeAndOpen()
        }
    }

    private mutating func sharedKey() throws -> ItemKey {
        try ItemKey("shared-\(Int.random(in: 0..<sharedKeys, using: &generator))")
    }

    private func metadata(_ key: ItemKey) -> ItemMetadata {
        ItemMetadata(key: key, destination: .documents(FileName(sanitizing: key.string)))
    }

    /// A version that nobody else makes, and its content.
    private mutating func newContent(of key: ItemKey) -> (version: UInt64, content: Data) {
        let version = generator.next()
        let isMixedUp = options.isMixingUp && version.isMultiple(of: 4)
        return (version, Content.of(isMixedUp ? key.string + "'" : key.string, version: version))
    }

    private mutating func storeWhole(_ key: ItemKey) async throws {
        counts.note(try await cache.store(newContent(of: key).content, as: metadata(key)))
    }

    private mutating func storeInPieces(_ key: ItemKey) async throws {
        let content = newContent(of: key).content
        let isLengthKnown = Bool.random(using: &generator)
        let begun = try await cache.beginStoring(
            metadata(key), expectedLength: isLengthKnown ? Int64(content.count) : nil)
        switch begun {
        case .refused(let refusal): counts.note(refusal)
        case .writer(let writer):
            var rest = content
            while !rest.isEmpty {
                let count = Int.random(in: 1...(300 << 10), using: &generator)
                if let refusal = try await writer.write(rest.prefix(count)) { return counts.note(refusal) }
                rest = rest.dropFirst(count)
            }
            if Int.random(in: 0..<10, using: &generator) == 0 {
                counts.cancelled += 1
                return try await writer.cancel()
            }
            counts.note(try await writer.commit())
        }
    }

    /// - Returns: The version that was there.
    @discardableResult
    private mutating func read(_ key: ItemKey) async throws -> UInt64? {
        switch try await cache.lookUp(key) {
        case .hit(let content):
            counts.hits += 1
            if let version = Content.version(of: content, as: key.string) { return version }
            counts.noteWrong("\(key.string) is not what was stored")
        case .miss(.absent): counts.misses += 1
        case .miss(.purged) where isPurged: counts.misses += 1
        case .miss(let miss): counts.faults.append("\(key.string) is a miss: \(miss)")
        }
        return nil
    }

    private mutating func storeAndOpen() async throws {
        openedCount += 1
        let key = try ItemKey("opened-\(name)-\(openedCount)")
        try await excusing { try await $0.storeWhole(key) }
        guard let opened = try await cache.open(key) else { return }
        counts.opened += 1
        if try Content.version(of: Data(contentsOf: opened.url), as: key.string) == nil {
            counts.noteWrong("\(key.string) was not opened as stored")
        }
        // Its user is done with it.
        try FileManager.default.removeItem(at: opened.url)
    }

    // MARK: Keepsakes

    private mutating func useKeepsake() async throws {
        let number = Int.random(in: 0..<Self.keepsakes, using: &generator)
        let key = try ItemKey("keepsake-\(name)-\(number)")
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<5: try await storeKeepsake(key)
        case 5..<9: try await readKeepsake(key)
        default: try await removeKeepsake(key)
        }
    }

    private mutating func storeKeepsake(_ key: ItemKey) async throws {
        let (version, content) = newContent(of: key)
        var metadata = self.metadata(key)
        metadata.priority = 1
        do {
            let outcome = try await cache.store(content, as: metadata)
            counts.note(outcome)
            if case .stored = outcome { keepsakes[key.string, default: Keepsake()].noteStored(version) }
        } catch {
            keepsakes[key.string, default: Keepsake()].noteFailedStore(version)
            try excuse(error)
        }
    }

    private mutating func readKeepsake(_ key: ItemKey) async throws {
        let known = keepsakes[key.string, default: Keepsake()]
        let wrong = counts.wrong
        if let version = try await read(key) {
            if !known.versions.contains(version) { counts.noteWrong("\(key.string) is not the last version") }
        } else if known.isThere, !isPurged, counts.wrong == wrong {
            counts.faults.append("\(key.string) is a miss, and nobody removed it")
        }
    }

    private mutating func removeKeepsake(_ key: ItemKey) async throws {
        do {
            counts.removed += try await cache.remove(key) ? 1 : 0
            keepsakes[key.string, default: Keepsake()].noteRemoved()
        } catch {
            keepsakes[key.string, default: Keepsake()].noteFailedRemoval()
            throw error
        }
    }
}
