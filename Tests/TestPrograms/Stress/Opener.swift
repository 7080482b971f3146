internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCaching
internal import PrefetchFileSystem
internal import SystemPackage

/// What openers did, as `open` prints it.
struct OpenReport: StressReporting {
    var stored = 0
    var opens = 0
    var firstOpens = 0
    var misses = 0
    /// What the system took away while it was stored.
    var purged = 0
    /// Of every key that was opened all paths that came of it: one.
    var paths: [String: Set<String>] = [:]
    /// Content that is not what was stored.
    var wrong = 0
    /// What must never be: errors, and such content.
    var faults: [String] = []

    mutating func add(_ other: OpenReport) {
        stored += other.stored
        opens += other.opens
        firstOpens += other.firstOpens
        misses += other.misses
        purged += other.purged
        paths.merge(other.paths) { $0.union($1) }
        wrong += other.wrong
        faults += other.faults
    }
}

/// One task that stores and opens, alone and several at once. All openers share all keys, each of which has one
/// content; what was opened stays.
struct Opener: Stressing {
    private static let keys = 2000
    /// Openers go through the keys together, so that they meet.
    private static let together = 6

    private let cache: PrefetchCache
    let isPurged: Bool
    private var generator: SeededGenerator
    private var first = 0
    var report = OpenReport()

    init(_ cache: PrefetchCache, seed: UInt64, isPurged: Bool) {
        self.cache = cache
        self.isPurged = isPurged
        generator = SeededGenerator(seed: seed)
    }

    mutating func step() async throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<5: try await excusing { try await $0.store($0.key()) }
        case 5..<8:
            let key = try key()
            try await note(cache.open(key), of: key)
        default:
            let keys = try Array(Set((0..<3).map { _ in try key() }))
            for (key, result) in zip(keys, try await cache.open(keys)) {
                try note(result.get().value, of: key)
            }
        }
    }

    private mutating func key() throws -> ItemKey {
        try ItemKey("wanted-\((first + Int.random(in: 0..<Self.together, using: &generator)) % Self.keys)")
    }

    private mutating func store(_ key: ItemKey) async throws {
        let metadata = ItemMetadata(key: key, destination: .documents(FileName(sanitizing: key.string)))
        switch try await cache.store(Content.of(key.string), as: metadata) {
        case .stored, .delivered: report.stored += 1
        // Somebody has opened it: on to the next.
        case .refused(.alreadyPromoted): first += 1
        case .refused(let refusal): report.faults.append("\(key) was refused: \(refusal)")
        }
    }

    private mutating func note(_ opened: PromotedFile?, of key: ItemKey) throws {
        guard let opened else {
            report.misses += 1
            return
        }
        report.opens += 1
        if opened.isFirstOpen { report.firstOpens += 1 }
        report.paths[key.string, default: []].insert(opened.path.string)
        guard try Data(contentsOf: opened.url) != Content.of(key.string) else { return }
        report.wrong += 1
        report.faults.append("\(key) was not opened as stored")
    }
}

extension CacheError {
    /// Whether it comes of a file or folder that the system has taken while something was being stored there: "Not yet"
    /// in the article on contracts.
    var isOfPurge: Bool {
        if case .fileSystem(let error) = self { error.isNotFound } else { false }
    }
}
