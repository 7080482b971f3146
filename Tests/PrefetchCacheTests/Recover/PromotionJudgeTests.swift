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

    @Test func nothingIsFoundWhereNothingIsWrong() throws {
        #expect(try faults() == [])
    }

    @Test func aFileThatIsGoneIsLost() throws {
        let found = try faults { container in
            try container.document("Film.mp4").remove()
        }
        #expect(found == [.lost])
    }

    @Test func anItemThatIsGoneIsLost() throws {
        let found = try faults { container in
            try container.item("Cached.txt").remove()
        }
        #expect(found == [.lost])
    }

    @Test func aLedgerThatIsGoneHandsOverOnceMore() throws {
        let found = try faults { container in
            try container.record.remove()
        }
        #expect(found.contains(.lost) || found.contains(.duplicated))
    }

    @Test func aFileThatIsCutShortIsPartial() throws {
        let found = try faults { container in
            let file = container.document("Film.mp4")
            try Data(contentsOf: file).dropLast().write(to: file)
        }
        #expect(found == [.partial])
    }

    @Test func aSecondCopyIsADuplicate() throws {
        let found = try faults { container in
            try FileManager.default.copyItem(
                at: container.document("Film.mp4"),
                to: container.document("Film (2).mp4"))
        }
        #expect(found == [.duplicated])
    }

    @Test func aForeignFileThatIsReplacedIsMissed() throws {
        #expect(try faults(with: ["--weakness", "replacing-rename"]).contains(.foreignTouched))
    }
}
