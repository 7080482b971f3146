import FileSystem
import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCache

/// Contract 1, part by part: whatever the system takes of Caches and tmp, and whenever, the cache goes on, its books are
/// right again after a repair, and what was handed over is not touched.
@Suite struct SystemPurgeTests {
    private static let combinations = TestRun.count(debug: 6, optimised: 100, long: 1000)

    @Test(arguments: PurgedPart.allCases)
    func betweenRuns(part: PurgedPart) throws {
        var world = try PurgedContainer("purges.\(part.rawValue)-between-runs")
        var purger = Purger(of: world.container.root, seed: 1)
        try purger.purge(part)
        let engine = try world.container.engine()
        try world.judge(engine, comment: "\(part)")
        try engine.close()
    }

    /// Two processes have the cache open, and one is in the middle of an item.
    @Test(arguments: PurgedPart.allCases)
    func whileItIsInUse(part: PurgedPart) throws {
        var world = try PurgedContainer("purges.\(part.rawValue)-in-use")
        let first = try world.container.engine()
        let second = try world.container.engine()
        for engine in [first, second] {
            for number in 0..<3 {
                try world.store(ItemKey("\(engine.environment.session)-\(number)"), in: engine)
            }
        }
        let store = try first.begin("under way", expectedLength: 3 << 20)
        try store.append(mebibytes: 2)
        var purger = Purger(of: world.container.root, seed: 1)
        try purger.purge(part)
        try finish(store, comment: "\(part)")
        try world.judge(second, beside: first, comment: "\(part)")
        try world.judge(first, beside: second, comment: "\(part)")
        for engine in [first, second] { try engine.close() }
    }

    /// An item whose file or lock was taken away is no more. That is an error, and the only one.
    private func finish(_ store: OpenStore, comment: Comment) throws {
        do {
            try store.append(mebibytes: 1)
            _ = try store.commit()
        } catch CacheError.fileSystem(let error) where error.isNotFound {
            return
        }
    }

    @Test func manyPartsAtOnceBetweenRunsAndInUse() throws {
        var record = AttackRecord("purges.combinations", cases: Self.combinations)
        for number in 0..<Self.combinations {
            let seed = TestRun.seed &+ UInt64(number)
            var generator = SeededGenerator(seed: seed)
            var world = try PurgedContainer(record.name)
            var purger = Purger(of: world.container.root, seed: seed)
            let engine = try world.container.engine()
            var parts: [PurgedPart] = []
            for round in 0..<3 {
                for _ in 0..<Int.random(in: 1...4, using: &generator) { parts.append(try purger.purge()) }
                try world.store(ItemKey("round-\(round)"), in: engine)
            }
            let isReopened = Bool.random(using: &generator)
            if isReopened { try engine.close() }
            let last = isReopened ? try world.container.engine() : engine
            try world.judge(last, comment: "seed \(seed): \(parts)")
            record.wrongBytes += world.record.wrongBytes
            record.lostPromotions += world.record.lostPromotions
            try last.close()
        }
        record.report()
        #expect(record.isHarmless, "seed \(TestRun.seed)")
    }

    /// Else the tests above would be quiet about anything.
    @Test func theJudgeNoticesAPromotedFileThatIsGone() throws {
        var world = try PurgedContainer("purges.control")
        let engine = try world.container.engine()
        try noise(10).write(to: world.container.documents.appending(path: "noise"))
        withKnownIssue { try world.judge(engine, comment: "") }
        #expect(world.record.lostPromotions == 1 && !world.record.isHarmless)
    }
}
