import Contenders
import Foundation
import PrefetchCaching

/// Fills all caches, and then measures them in rounds, so that a machine whose speed drifts hits all
/// of them alike.
///
/// What changes a cache comes after what does not, and what deletes comes last: on ext4 the places of
/// deleted files slow the making of new ones.
struct Series {
    let rounds: Int
    let workspace: Workspace

    func measure(_ counts: [Int]) async throws -> [Row] {
        let text = try TextCorpus()
        // A cache of one item stands for an empty one: reading from it takes the same way.
        let baseline = try await Subject(1, text, in: workspace)
        var subjects: [Subject] = []
        for count in counts { subjects.append(try await Subject(count, text, in: workspace)) }
        sync()
        try inTurn([baseline] + subjects, [.launch])
        try inTurn(subjects, [.crash, .recover])
        try inTurn(subjects, [.store])
        // So that even the smallest has enough to evict.
        for subject in subjects { try await subject.topUp(rounds * Probe.evictions, text) }
        sync()
        try inTurn(subjects, [.evict])
        return subjects.map { Row($0.count, $0.samples, subjects[0].samples, baseline: baseline.samples) }
    }

    private func inTurn(_ subjects: [Subject], _ errands: [Errand]) throws {
        for round in 0..<rounds {
            for index in Race.order(of: subjects.count, in: round) {
                for errand in errands {
                    if errand == .store { sync() }
                    try subjects[index].run(errand, round)
                }
            }
        }
    }
}

/// One cache, and what was found out about it so far.
private final class Subject {
    private static let tasks = 4

    let count: Int
    private(set) var samples: Readings = [:]
    private let container: URL
    private let areas: StorageAreas
    /// What one item counts against the budget.
    private let charge: Int64

    /// A cache of `count` small items, filled and closed.
    init(_ count: Int, _ text: TextCorpus, in workspace: Workspace) async throws {
        self.count = count
        container = try workspace.makeFolder()
        areas = try .container(at: container)
        charge = try await PrefetchCache.with(areas) { cache in
            // Far above everything that is stored here.
            try await cache.configure(CacheConfiguration(budget: .fixed(.gibibytes(256))))
            try await Self.fill(cache, 0..<count, text)
            let statistics = try await cache.statistics()
            return statistics.chargedBytes / Int64(max(1, statistics.items))
        }
    }

    func topUp(_ more: Int, _ text: TextCorpus) async throws {
        try await PrefetchCache.with(areas) {
            try await Self.fill($0, count..<count + more, text)
        }
    }

    /// Stores the items of these numbers as an app would, through the public interface, in several tasks.
    private static func fill(
        _ cache: PrefetchCache, _ numbers: Range<Int>, _ text: TextCorpus
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask(executorPreference: cache.executor) {
                    for number in numbers where number % tasks == task {
                        try await cache.demand(
                            GrowthItem.content(number, from: text), as: GrowthItem.small(number))
                    }
                }
            }
            try await group.waitForAll()
        }
        try await cache.flush()
    }

    /// Runs this program once more, for one measurement.
    func run(_ errand: Errand, _ round: Int) throws {
        let process = Process()
        process.executableURL = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.arguments = [
            "probe", errand.rawValue, "--round", String(round), "--container",
            container.path(percentEncoded: false), "--count", String(count), "--charge", String(charge),
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            // It has said why on the standard error that it shares with this process.
            throw ContenderError(
                "measuring '\(errand)' with \(count) items ended with \(process.terminationStatus)")
        }
        for (name, value) in try JSONDecoder().decode([String: Double].self, from: data) {
            if let metric = Metric(rawValue: name) { samples[metric, default: []].append(value) }
        }
    }
}

/// The items of this program.
enum GrowthItem {
    private static let sources = 100

    /// The small items that make a cache large.
    static func small(_ number: Int) throws -> ItemMetadata {
        try ItemMetadata(
            key: ItemKey("https://example.org/feed/\(number)"), source: "feed \(number % sources)",
            destination: .documents(FileName("Note \(number)")))
    }

    /// Items that are stored while measuring. Their priority keeps them behind the small ones, so
    /// that what is evicted is the same at every size.
    static func measured(_ round: Int, _ number: Int) throws -> ItemMetadata {
        try ItemMetadata(
            key: ItemKey("https://example.org/round \(round)/\(number)"), source: "example.org",
            destination: .documents(FileName("Article \(round) \(number)")), priority: 1)
    }

    /// Between 100 and 300 bytes of text, and up to four times as many from some sources.
    static func content(_ number: Int, from text: TextCorpus) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(number))
        let length = Int.random(in: 100...300, using: &random) * (1 + number % sources % 4)
        let start = Int.random(in: 0...(text.bytes.count - length), using: &random)
        return Array(text.bytes[start..<start + length])
    }
}
