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
    let progress = ProgressLine()

    func measure(_ counts: [Int]) async throws -> [Row] {
        defer { progress.clear() }
        let text = try TextCorpus()
        // A cache of one item stands for an empty one: reading from it takes the same way.
        var baseline = try await Subject(1, filling(text), in: workspace)
        var subjects: [Subject] = []
        for count in counts { subjects.append(try await Subject(count, filling(text), in: workspace)) }
        sync()

        for round in 0..<rounds {
            progress.show("launch, round \(round + 1) of \(rounds)")
            try baseline.run(.launch, round)
            try inTurn(&subjects, round) { try $0.run(.launch, round) }
        }
        for round in 0..<rounds {
            progress.show("crash, round \(round + 1) of \(rounds)")
            try inTurn(&subjects, round) { subject in
                try subject.run(.crash, round)
                try subject.run(.recover, round)
            }
        }
        for round in 0..<rounds {
            progress.show("store, round \(round + 1) of \(rounds)")
            try inTurn(&subjects, round) { subject in
                sync()
                try subject.run(.store, round)
            }
        }
        // So that even the smallest has enough to evict.
        for subject in subjects { try await subject.topUp(2 * rounds * Probe.evictions, filling(text)) }
        sync()
        for round in 0..<rounds {
            progress.show("evict, round \(round + 1) of \(rounds)")
            try inTurn(&subjects, round) { try $0.run(.evict, round) }
        }
        return subjects.map { Row($0, smallest: subjects[0], baseline: baseline) }
    }

    /// Forwards in one round, backwards in the next.
    private func inTurn(
        _ subjects: inout [Subject], _ round: Int, _ body: (inout Subject) throws -> Void
    ) throws {
        let order = round.isMultiple(of: 2) ? Array(subjects.indices) : subjects.indices.reversed()
        for index in order { try body(&subjects[index]) }
    }

    private func filling(_ text: TextCorpus) -> (PrefetchCache) -> Filling {
        { Filling(cache: $0, text: text, progress: progress) }
    }
}

/// One cache, and what was found out about it so far.
struct Subject {
    let count: Int
    let fill: Filling.Result
    private(set) var samples: [Metric: [Double]] = [:]
    private let areas: StorageAreas
    private let child: Child

    /// A cache of `count` small items, filled and closed.
    init(_ count: Int, _ filling: (PrefetchCache) -> Filling, in workspace: Workspace) async throws {
        let container = try workspace.makeFolder()
        areas = try .container(at: container)
        fill = try await PrefetchCache.with(areas) { cache in
            // Far above everything that is stored here.
            try await cache.configure(CacheConfiguration(budget: .fixed(.gibibytes(256))))
            return try await filling(cache).fill(0..<count)
        }
        self.count = count
        child = Child(container: container, count: count, charge: fill.chargedBytes)
    }

    mutating func run(_ errand: Errand, _ round: Int) throws {
        for (metric, value) in try child.run(errand, round: round) {
            samples[metric, default: []].append(value)
        }
    }

    func topUp(_ more: Int, _ filling: (PrefetchCache) -> Filling) async throws {
        _ = try await PrefetchCache.with(areas) { try await filling($0).fill(count..<count + more) }
    }
}
