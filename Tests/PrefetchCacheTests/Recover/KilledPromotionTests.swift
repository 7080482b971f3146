import Dispatch
import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// Processes that promote and are killed with `SIGKILL`, and what the next process makes of it.
@Suite(.serialized) struct KilledPromotionTests {
    /// A run of a plan, and what ends it.
    private struct Run: Sendable {
        let prepared: PreparedPlan
        /// The moments at which the first process is killed, and the one that recovers.
        let ends: [String]
        /// What to set in the environment to have this run alone.
        let repetition: String
    }

    /// Runs a plan in a fresh container, and judges.
    /// - Returns: Whether the first process was killed, and not just through.
    @discardableResult
    private func carryOut(_ run: Run, _ tally: PromotionTally) throws -> Bool {
        let plan = run.prepared.plan
        let container = try TemporaryContainer(in: .fastTemporaryFolder)
        let foreign = try run.prepared.fill(container)
        var kills = 0
        var isFirst = true
        var reported: [ItemKey: String] = [:]
        var failures: [String] = []
        for end in run.ends {
            let steps = isFirst ? plan.arguments(in: container) : plan.openings
            let process = try PromotingProcess(["--end", end] + steps, in: container)
            reported.merge(process.opened) { first, _ in first }
            failures += process.failures
            if process.wasKilled { kills += 1 }
            if isFirst, !process.wasKilled { break }
            isFirst = false
        }
        let judge = PromotionJudge(
            plan: plan, container: container, foreign: foreign, reported: reported, wasPowerCut: false)
        let faults = failures.map { PromotionFault(kind: .failed, description: $0) } + judge.faults()
        tally.add(ends: kills, openings: reported.count, faults)
        for fault in faults { Issue.record("\(fault); again: \(run.repetition)") }
        return kills > 0
    }

    /// Does something for every element, as many at a time as there are cores.
    private func forEach<Element: Sendable>(
        _ elements: [Element], _ body: @Sendable (Element) throws -> Void
    ) {
        DispatchQueue.concurrentPerform(iterations: elements.count) { index in
            do { try body(elements[index]) } catch { Issue.record(error) }
        }
    }

    private static let step = Repetition.isWanted ? 1 : TestRun.count(short: 12, long: 1)

    @Test func atEveryPointOfEveryPromotion() throws {
        let tally = PromotionTally("kills")
        forEach(try PromotionPlan.all()) { plan in
            let prepared = try PreparedPlan(plan)
            for point in stride(from: 1 + Int(TestRun.seed % UInt64(Self.step)), to: .max, by: Self.step) {
                let name = "\(plan.name) at \(point)"
                if let wanted = Repetition.end, wanted != name {
                    guard point < 200 else { break }
                    continue
                }
                let run = Run(
                    prepared: prepared, ends: ["point:\(point)"],
                    repetition: "PREFETCHCACHE_END='\(name)'")
                guard try carryOut(run, tally) else { break }
            }
        }
        print("at every point: \(tally.summary)")
        #expect(tally.faults.isEmpty)
        #expect(tally.count >= 400 / Self.step || Repetition.isWanted)
    }

    /// Plans of several items, drawn by lot, with what is known of them from a run to the end.
    private struct Drawn: Sendable {
        let prepared: PreparedPlan
        let points: Int
        let microseconds: Int

        init(seed: UInt64) throws {
            prepared = try PreparedPlan(.random(seed: seed, items: 5))
            let container = try TemporaryContainer(in: .fastTemporaryFolder)
            _ = try prepared.fill(container)
            let process = try PromotingProcess(prepared.plan.arguments(in: container), in: container)
            (points, microseconds) = try #require(process.finished)
        }
    }

    /// - Parameter ends: The moments of the ends of a run.
    private func byLot(
        _ what: String, _ count: UInt64,
        ends: @Sendable (Drawn, inout SeededGenerator) -> [String]
    ) throws -> PromotionTally {
        let tally = PromotionTally("kills")
        // Eight runs of one plan: to prepare it takes as long as to run it.
        let seeds = Repetition.seeds(count)
        let groups = Dictionary(grouping: seeds) { $0 / 8 }
        forEach(groups.sorted { $0.key < $1.key }.map { $0 }) { group, seeds in
            let drawn = try Drawn(seed: group)
            for seed in seeds {
                var generator = SeededGenerator(seed: seed)
                // A busy machine may have run the plan more slowly when it was timed: then it is over before its end.
                for _ in 0..<8 {
                    let run = Run(
                        prepared: drawn.prepared, ends: ends(drawn, &generator),
                        repetition: "PREFETCHCACHE_SEED=\(seed)")
                    if try carryOut(run, tally) { break }
                }
            }
        }
        print("\(what): \(tally.summary)")
        #expect(tally.faults.isEmpty)
        return tally
    }

    /// In the middle of calls, too, and in those of SQLite.
    @Test func atAnyMoment() throws {
        let tally = try byLot("at any moment", UInt64(120 / Self.step)) { drawn, generator in
            ["time:\(Int.random(in: 1...max(1, drawn.microseconds), using: &generator))"]
        }
        #expect(tally.count >= 60 / Self.step || Repetition.isWanted)
    }

    @Test func andOnceMoreWhileTheNextProcessRecovers() throws {
        let tally = try byLot("twice", UInt64(80 / Self.step)) { drawn, generator in
            let first = Int.random(in: 1...drawn.points, using: &generator)
            // Recovery is at the beginning.
            return ["point:\(first)", "point:\(Int.random(in: 1...25, using: &generator))"]
        }
        #expect(tally.count >= 100 / Self.step || Repetition.isWanted)
    }
}
