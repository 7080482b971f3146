internal import FileSystemTestSupport
internal import Foundation
internal import PrefetchCache

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
/// store; what is opened has keys of its own, for it is no longer cached then.
struct Worker: Stressing {
    private static let sharedKeys = 800

    private let cache: PrefetchCache
    private let name: String
    let isPurged: Bool
    private var generator: SeededGenerator
    private var openedCount = 0
    var report = WorkReport()

    init(_ cache: PrefetchCache, name: String, seed: UInt64, isPurged: Bool) {
        self.cache = cache
        self.name = name
        self.isPurged = isPurged
        generator = SeededGenerator(seed: seed)
    }

    mutating func step() async throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<40: try await storeWhole(sharedMetadata())
        case 40..<70: try await storeInPieces(sharedMetadata())
        case 70..<90: try await read()
        case 90..<97: report.removed += try await cache.remove(sharedKey()) ? 1 : 0
        default: try await storeAndOpen()
        }
    }

    private mutating func sharedKey() throws -> ItemKey {
        try ItemKey("shared-\(Int.random(in: 0..<Self.sharedKeys, using: &generator))")
    }

    private func metadata(_ key: ItemKey) -> ItemMetadata {
        ItemMetadata(key: key, destination: .documents(FileName(sanitizing: key.string)))
    }

    private mutating func sharedMetadata() throws -> ItemMetadata { metadata(try sharedKey()) }

    private mutating func storeWhole(_ metadata: ItemMetadata) async throws {
        report.note(try await cache.store(Content.random(using: &generator), as: metadata))
    }

    private mutating func storeInPieces(_ metadata: ItemMetadata) async throws {
        let content = Content.random(using: &generator)
        let isLengthKnown = Bool.random(using: &generator)
        let begun = try await cache.beginStoring(
            metadata, expectedLength: isLengthKnown ? Int64(content.count) : nil)
        switch begun {
        case .refused(let refusal): report.note(refusal)
        case .writer(let writer):
            var rest = content
            while !rest.isEmpty {
                let count = Int.random(in: 1...(300 << 10), using: &generator)
                if let refusal = try await writer.write(rest.prefix(count)) { return report.note(refusal) }
                rest = rest.dropFirst(count)
            }
            if Int.random(in: 0..<10, using: &generator) == 0 {
                report.cancelled += 1
                return try await writer.cancel()
            }
            report.note(try await writer.commit())
        }
    }

    private mutating func read() async throws {
        let key = try sharedKey()
        switch try await cache.lookUp(key) {
        case .hit(let content):
            report.hits += 1
            if !Content.isWhole(content) { report.noteWrong("\(key.string) is not what was stored") }
        case .miss(.absent): report.misses += 1
        case .miss(.purged) where isPurged: report.misses += 1
        case .miss(let miss): report.faults.append("\(key.string) is a miss: \(miss)")
        }
    }

    private mutating func storeAndOpen() async throws {
        openedCount += 1
        let key = try ItemKey("opened-\(name)-\(openedCount)")
        try await storeWhole(metadata(key))
        guard let opened = try await cache.open(key) else { return }
        report.opened += 1
        let content = try Data(contentsOf: opened.url)
        if !Content.isWhole(content) { report.noteWrong("\(key.string) was not opened as stored") }
        // Its user is done with it.
        try FileManager.default.removeItem(at: opened.url)
    }
}
