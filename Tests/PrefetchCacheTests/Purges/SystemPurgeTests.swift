import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// Contract 1, part by part: whatever the system takes of Caches and tmp, and whenever, the cache goes on, its books are
/// right again after a repair, and what was handed over is not touched.
@Suite struct SystemPurgeTests {
    private let container = TemporaryContainer.make()
    private static let parts = TestRun.sample(6, of: PurgedPart.allCases)
    private static let combinations = TestRun.count(short: 6, long: 1000)

    @Test(arguments: parts)
    func betweenRuns(part: PurgedPart) throws {
        var world = try PurgedContainer("purges.between-runs")
        var purger = Purger(of: world.container.root, seed: 1)
        try purger.purge(part)
        let engine = try world.container.engine()
        try world.judge(engine, after: [part], comment: "\(part)")
        try engine.close()
        world.record.report()
    }

    /// Two processes have the cache open, and one is in the middle of an item.
    @Test(arguments: parts)
    func whileItIsInUse(part: PurgedPart) throws {
        var world = try PurgedContainer("purges.in-use")
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
        try world.judge(second, beside: first, after: [part], comment: "\(part)")
        try world.judge(first, beside: second, after: [], comment: "\(part)")
        for engine in [first, second] { try engine.close() }
        world.record.report()
    }

    /// An item whose file or lock was taken away is no more. That is an error, and the only one.
    private func finish(_ store: UnfinishedStore, comment: Comment) throws {
        do {
            try store.append(mebibytes: 1)
            _ = try store.commit()
        } catch CacheError.fileSystem(let error) where error.isNotFound {
            return
        }
    }

    /// What is written to an emptied file afterwards leaves a hole before it. A large identity item of this boot is promoted
    /// unread.
    @Test(arguments: [3 << 20, 6 << 20], [true, false])
    func anItemThatIsEmptiedWhileItIsStoredIsAMiss(length: Int, isOpened: Bool) throws {
        let engine = try container.engine()
        let store = try engine.begin("key", expectedLength: Int64(length))
        try store.append(noise(length - (1 << 20)))
        var purger = Purger(of: container.root, seed: 1)
        try purger.purge(.emptiedPartial)
        try store.append(noise(1 << 20))
        #expect(try store.commit().isStored)
        if isOpened {
            #expect(try engine.open("key").miss == .purged)
        } else {
            #expect(try engine.read("key", nil).miss == .purged)
        }
        #expect(try container.files(below: container.documents).isEmpty)
        #expect(try engine.statistics().items == 0 && engine.statistics().quarantinedItems == 0)
    }

    /// ZFS makes holes of zeros, and so does who copies a container sparsely.
    @Test(arguments: [3 << 20, 6 << 20], [["key"], ["key", "other"]] as [[ItemKey]])
    func aHoleWhereAnItemHasZerosIsNoDamage(length: Int, keys: [ItemKey]) throws {
        let engine = try container.engine()
        // At the beginning, as after a purge.
        let content = Data(count: length - (1 << 20)) + noise(1 << 20)
        for key in keys {
            try engine.store(content, key, encoding: .forced(.identity))
            let item = try FileHandle(forUpdating: container.item(key))
            let whole = try Data(contentsOf: container.item(key))
            try item.truncate(atOffset: 0)
            try item.seek(toOffset: UInt64(length - (1 << 20)))
            try item.write(contentsOf: whole.dropFirst(length - (1 << 20)))
            try item.close()
        }
        for (key, opened) in zip(keys, engine.open(keys, for: .never)) {
            let file = try #require(try opened.get().value)
            #expect(try isSame(engine.content(key), content) && Data(contentsOf: file.url) == content)
        }
    }

    @Test func manyPartsAtOnceBetweenRunsAndInUse() throws {
        var record = AttackRecord("purges.combinations", of: "containers that were purged")
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
            try world.judge(last, after: parts, comment: "seed \(seed): \(parts)")
            record.add(world.record)
            try last.close()
        }
        record.report()
        #expect(record.isHarmless, "seed \(TestRun.seed)")
    }

    /// Else the tests above would be quiet about anything.
    @Test func theJudgeNoticesAPromotedFileThatIsGone() throws {
        var world = try PurgedContainer("purges.control")
        let engine = try world.container.engine()
        // The user has a file of that name.
        try noise(10).write(to: world.container.document("noise (2)"))
        withKnownIssue { try world.judge(engine, after: [], comment: "") }
        #expect(world.record.lostPromotions == 1 && !world.record.isHarmless)
    }

    @Test func theJudgeNoticesAnItemThatTheSystemDidNotTake() throws {
        var world = try PurgedContainer("purges.control")
        var purger = Purger(of: world.container.root, seed: 1)
        try purger.purge(.item)
        let engine = try world.container.engine()
        withKnownIssue { try world.judge(engine, after: [.catalog], comment: "") }
        try engine.close()
    }

    @Test func theJudgeNoticesAFileOfTheUsersThatIsChanged() throws {
        var world = try PurgedContainer("purges.control")
        let engine = try world.container.engine()
        try noise(10).write(to: world.container.document("letter.txt"))
        withKnownIssue { try world.judge(engine, after: [], comment: "") }
        #expect(world.record.foreignTouched == 1)
        try engine.close()
    }
}
