import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// The power of a volume is cut while a process promotes items on it: what its file system had not made
/// durable is gone, and the rest is what its journal gives back.
@Suite(.serialized) struct PowerCutTests {
    private enum Layout: String {
        /// The whole container is on the volume.
        case container
        /// Documents is a volume of its own, and nothing else on it ever flushes anything.
        case documents
    }

    /// The volume, and the plans whose promotions are cut short on it.
    private final class Site {
        let volume: SmallVolume
        let layout: Layout
        let tally = PromotionTally("power cuts")

        init(_ kind: SmallVolume.Kind, _ layout: Layout) throws {
            volume = try SmallVolume(
                kind, megabytes: kind == .ext4 ? 64 : 320, options: "relatime", losesPower: true)
            self.layout = layout
        }

        /// Runs a plan until the power is cut at each of the moments in turn, and judges.
        func run(
            _ prepared: PreparedPlan, cutAt ends: [String?], durably: Bool, with options: [String] = []
        ) throws -> [PromotionFault] {
            let plan = prepared.plan
            let container = try makeContainer()
            let foreign = try prepared.fill(container, flush: volume.settle)
            if durably { try volume.settle() }
            var reported: [ItemKey: String] = [:]
            for (number, end) in ends.enumerated() {
                let steps = number == 0 ? plan.arguments(in: container) : plan.openings
                let process = try PromotingProcess(
                    ["--cut", volume.root.path] + (end.map { ["--end", $0] } ?? []) + options + steps,
                    in: container)
                try #require(process.wasKilled, "\(process.failures)")
                // What was reported as failed had met with the cut.
                reported.merge(process.opened) { first, _ in first }
                try volume.replayJournal()
            }
            let judge = PromotionJudge(
                plan: plan, container: container, foreign: foreign, reported: reported, wasPowerCut: true,
                isOneVolume: layout == .container)
            let faults = judge.faults()
            tally.add(ends: ends.count, openings: reported.count, faults)
            return faults
        }

        private func makeContainer() throws -> TemporaryContainer {
            switch layout {
            case .container: return try TemporaryContainer(in: volume.root)
            case .documents:
                let container = try TemporaryContainer(in: .fastTemporaryFolder)
                let documents = volume.root.appending(path: "Documents-\(UUID().uuidString)")
                try documents.makeFolder()
                try container.documents.makeLink(to: documents)
                return container
            }
        }
    }

    /// A plan of several items, how many points it has, and how long it takes.
    private func draw(seed: UInt64, _ site: Site) throws -> (PreparedPlan, points: Int, microseconds: Int) {
        let prepared = try PreparedPlan(.random(seed: seed, items: 6))
        let container = try TemporaryContainer(in: .fastTemporaryFolder)
        _ = try prepared.fill(container)
        // To the end, and then the power of another volume is cut; with the points that a cut has.
        let process = try PromotingProcess(
            ["--cut", site.volume.root.path] + prepared.plan.arguments(in: container), in: container)
        try site.volume.replayJournal()
        let (points, microseconds) = try #require(process.finished)
        return (prepared, points, microseconds)
    }

    private func cut(_ kind: SmallVolume.Kind, _ layout: Layout, times count: UInt64) throws {
        let site = try Site(kind, layout)
        let seeds = Repetition.seeds(count)
        for (group, seeds) in Dictionary(grouping: seeds, by: { $0 / 10 }) {
            let (prepared, points, microseconds) = try draw(seed: group, site)
            for seed in seeds {
                var generator = SeededGenerator(seed: seed)
                func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
                let point = Int.random(in: 1...points + points / 8, using: &generator)
                let time = Int.random(in: 1...microseconds, using: &generator)
                let first = oneIn(3) ? "time:\(time)" : "point:\(point)"
                // Recovery is at the beginning.
                let second = "point:\(Int.random(in: 1...60, using: &generator))"
                let faults = try site.run(
                    prepared, cutAt: oneIn(4) ? [first, second] : [first], durably: oneIn(2))
                for fault in faults {
                    Issue.record(
                        "\(kind), \(layout), \(first), \(second): \(fault); again: PREFETCHCACHE_SEED=\(seed)"
                    )
                }
            }
        }
        print("\(kind), \(layout): \(site.tally.summary)")
        #expect(site.tally.faults.isEmpty)
        #expect(site.tally.count >= count || Repetition.isWanted)
        #expect(site.tally.openings > 0 || Repetition.isWanted)
    }

    /// What was promised is missed when nothing is flushed: were it not, these tests would show nothing.
    private func expectLossesWithoutFlushing(_ kind: SmallVolume.Kind) throws {
        for layout in [Layout.container, .documents] {
            let site = try Site(kind, layout)
            let prepared = try PreparedPlan(.random(seed: 1, items: 6))
            _ = try site.run(prepared, cutAt: [nil], durably: false, with: ["--weakness", "no-synchronize"])
            #expect(site.tally.openings > 0)
            #expect(site.tally.faults.contains { [.lost, .partial].contains($0.kind) }, "\(layout)")
        }
    }

    private static let kinds = SmallVolume.all.filter { [.ext4, .xfs].contains($0) }

    @Test(
        .enabled(if: TestRun.isLong, "Takes half a minute: PREFETCHCACHE_LONG_TESTS."),
        .enabled(if: !kinds.isEmpty, "Cutting the power needs root on Linux, mkfs and a loop device."),
        arguments: kinds)
    func nothingThatWasPromisedIsLost(kind: SmallVolume.Kind) throws {
        try cut(kind, .container, times: kind == .ext4 ? 90 : 60)
        try cut(kind, .documents, times: kind == .ext4 ? 40 : 30)
        try expectLossesWithoutFlushing(kind)
    }
}
