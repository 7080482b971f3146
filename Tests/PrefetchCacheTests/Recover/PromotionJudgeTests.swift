import Foundation
import Testing

@testable import PrefetchCaching

/// The judge of promotions that were cut short sees what it is there to see.
@Suite struct PromotionJudgeTests {
    private static let plan = PromotionPlan(
        name: "judged",
        items: [
            PlannedItem("Doc.txt", cached: .lz4, name: .foreign),
            PlannedItem("Film.mp4", cached: .identity),
            PlannedItem("Cached.txt", cached: .lz4),
        ])

    /// Opens two items of three, and judges what is there after `change`.
    private func faults(
        with options: [String] = [], after change: (TemporaryContainer) throws -> Void = { _ in }
    ) throws -> Set<PromotionFault.Kind> {
        let container = try TemporaryContainer(in: .fastTemporaryFolder)
        let foreign = try PreparedPlan(Self.plan).fill(container)
        let process = try PromotingProcess(options + ["open=Doc.txt", "open=Film.mp4"], in: container)
        #expect(process.failures == [])
        #expect(process.opened.count == 2)
        try change(container)
        let judge = PromotionJudge(
            plan: Self.plan, container: container, foreign: foreign, reported: process.opened,
            wasPowerCut: false)
        return Set(judge.faults().map(\.kind))
    }

    private typealias Change = @Sendable (TemporaryContainer) throws -> Void

    private static let changes: [(found: Set<PromotionFault.Kind>, change: Change)] = [
        ([], { _ in }),
        ([.lost], { try $0.document("Film.mp4").remove() }),
        ([.lost], { try $0.item("Cached.txt").remove() }),
        (
            [.partial],
            {
                let file = $0.document("Film.mp4")
                try Data(contentsOf: file).dropLast().write(to: file)
            }
        ),
        (
            [.duplicated],
            {
                try FileManager.default.copyItem(
                    at: $0.document("Film.mp4"), to: $0.document("Film (2).mp4"))
            }
        ),
    ]

    @Test(arguments: changes.indices) func whatIsOutOfOrderIsFound(number: Int) throws {
        let (found, change) = Self.changes[number]
        #expect(try faults(after: change) == found)
    }

    @Test func aLedgerThatIsGoneHandsOverOnceMore() throws {
        let found = try faults { container in
            try container.record.remove()
        }
        #expect(found.contains(.lost) || found.contains(.duplicated))
    }

    @Test func aForeignFileThatIsReplacedIsMissed() throws {
        #expect(try faults(with: ["--weakness", "replacing-rename"]).contains(.foreignTouched))
    }
}
