import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Several items opened by one call: what is promised of one holds for each.
@Suite struct JointPromotionTests {
    private let container = TemporaryContainer.make()

    private func content(of result: Result<Lookup<PromotedFile>, CacheError>) throws -> Data? {
        try result.get().value.map { try Data(contentsOf: $0.url) }
    }

    @Test func everyKeyHasItsAnswerInItsPlace() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "text")
        try engine.store(noise(5000), "film")
        try engine.store(prose(700), "before")
        _ = try engine.open("before")
        try engine.store(prose(900), "damaged")
        try Data("no item at all, and longer than a trailer is".utf8).write(to: container.item("damaged"))
        try engine.store(prose(800), "taken")
        try FileManager.default.removeItem(at: #require(try engine.open("taken").value).url)

        let results = engine.open(["text", "nothing", "film", "damaged", "before", "taken", "text"])
        #expect(results.count == 7)
        #expect(try content(of: results[0]) == prose(5000))
        #expect(try content(of: results[2]) == noise(5000))
        #expect(try content(of: results[4]) == prose(700))
        #expect(try content(of: results[6]) == prose(5000))
        let isFirst = try [0, 2, 4, 6].map { try results[$0].get().value?.isFirstOpen }
        #expect(isFirst == [true, true, false, false])
        guard case .success(.miss(.absent)) = results[1], case .success(.miss(.damaged)) = results[3],
            case .failure(.movedOrDeleted("taken", _)) = results[5]
        else { Issue.record("\(results)"); return }
        #expect(try engine.items().isEmpty)
        #expect(try engine.statistics().promotions == 4)
        #expect(try container.files(below: container.documents) == ["before", "film", "text"])
        #expect(try container.staged() == [])
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func oneFailureCostsNobodyElse(encoding: ItemEncoding) throws {
        let keys: [ItemKey] = ["a", "bad", "c"]
        do {
            let engine = try container.engine(
                fileSystem: InterceptingFileSystem(failing: .permissionDenied) {
                    $0.kind == .rename && $0.newName == "bad"
                })
            for key in keys { try engine.store(prose(5000), key, encoding: .forced(encoding)) }
            let results = engine.open(keys)
            #expect(try content(of: results[0]) == prose(5000))
            #expect(try content(of: results[2]) == prose(5000))
            guard case .failure(.destination(let path, _)) = results[1] else {
                Issue.record("\(results[1])")
                return
            }
            #expect(path.hasSuffix("/bad"))
        }
        #expect(try content(of: container.engine().open(keys)[1]) == prose(5000))
        #expect(try container.files(below: container.documents) == ["a", "bad", "c"])
    }

    /// A damaged item is quarantined when the others have been opened. What was stored in its place until then is sound.
    @Test func theSoundItemThatReplacesADamagedOneStays() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        for key in ["sound", "damaged"] as [ItemKey] { try engine.store(prose(5000), key) }
        try container.item("damaged").flipByte(at: 30)
        fileSystem.intercept { operation in
            guard operation.kind == .rename, operation.newName == "sound" else { return }
            do { try engine.store(prose(6000), "damaged") } catch { Issue.record(error) }
        }
        let results = engine.open(["damaged", "sound"])
        guard case .success(.miss(.damaged)) = results[0] else { Issue.record("\(results[0])"); return }
        #expect(try content(of: results[1]) == prose(5000))
        #expect(try engine.content("damaged") == prose(6000))
        #expect(try engine.statistics().quarantinedItems == 0)
    }

    @Test func aFlushThatFailsIsNotTriedAgain() throws {
        let world = SimulatedWorld()
        let items = [SimulatedItem("a", .lz4, seed: 1), SimulatedItem("b", .lz4, seed: 2)]
        for item in items { try world.cache(item) }
        let engine = try world.engine()
        let count = CallCounter()
        world.fileSystem.fail {
            $0.kind == .synchronize && $0.name == SimulatedWorld.areas.documents.string && count.next() == 0
        }
        for result in engine.open(items.map(\.key)) {
            guard case .failure(.destination(_, let error)) = result, error.errno == .ioError else {
                Issue.record("\(result)")
                return
            }
        }
        #expect(try engine.ledger.unfinished().count == 2)
    }

    @Test func moreKeysThanAreOpenedTogether() throws {
        let engine = try container.engine()
        let keys = try (0..<70).map { try ItemKey("key \($0)") }
        for (number, key) in keys.enumerated() { try engine.store(prose(500, seed: UInt64(number)), key) }
        for (number, result) in engine.open(keys).enumerated() {
            #expect(try content(of: result) == prose(500, seed: UInt64(number)))
        }
        #expect(try engine.items().isEmpty)
    }
}

/// What opening together costs, counted on a simulated disk.
@Suite struct JointPromotionCostTests {
    private struct Cost: Equatable, CustomStringConvertible {
        var flushes = 0
        var commits = 0

        var description: String { "\(flushes) flushes and \(commits) transactions" }
    }

    private let world = SimulatedWorld()
    private let operations = OperationLog()

    /// Puts items into the cache, and opens one beforehand: what the first promotion of a process does
    /// besides is not counted.
    private func engine(with items: [SimulatedItem]) throws -> Engine {
        let first = SimulatedItem("first", .lz4)
        for item in items + [first] { try world.cache(item) }
        let engine = try world.engine()
        _ = try engine.open(first.key)
        let operations = operations
        world.fileSystem.intercept { operations.add($0) }
        return engine
    }

    private var cost: Cost {
        operations.operations.reduce(into: Cost()) { cost, operation in
            if operation.kind == .synchronize { cost.flushes += 1 }
            if operation.kind == .commit { cost.commits += 1 }
        }
    }

    private func items(_ count: Int, _ encoding: ItemEncoding) throws -> [SimulatedItem] {
        try (0..<count).map { SimulatedItem(try ItemKey("item \($0)"), encoding, seed: UInt64($0)) }
    }

    /// Each content is flushed, and each folder once: of what is renamed that of staging, too.
    @Test(arguments: [
        (ItemEncoding.lz4, Cost(flushes: 40, commits: 40), Cost(flushes: 21, commits: 2)),
        (.identity, Cost(flushes: 60, commits: 40), Cost(flushes: 22, commits: 2)),
    ])
    private func twentyItems(encoding: ItemEncoding, singly: Cost, together: Cost) throws {
        let items = try items(20, encoding)
        let engine = try engine(with: items)
        for result in engine.open(items.map(\.key)) { #expect(try result.get().value?.isFirstOpen == true) }
        #expect(cost == together)

        let other = Self()
        let singleEngine = try other.engine(with: items)
        for item in items { #expect(try singleEngine.open(item.key).value?.isFirstOpen == true) }
        #expect(other.cost == singly)
        print("20 items, \(encoding): singly \(other.cost), together \(cost)")
    }

    @Test func locksAreTakenInOneOrder() throws {
        let items = try items(12, .lz4)
        let engine = try engine(with: items)
        for result in engine.open(items.map(\.key)) { _ = try result.get() }
        let taken = operations.operations.filter {
            $0.kind == .lock && $0.name == CacheLayout.keyLocks.string
        }.map(\.offset)
        #expect(taken == items.map { KeyLock.position(of: $0.key.hash) }.sorted())
    }

    /// Nothing is taken to a step before everything has come through the one before. Contents and intents are one step.
    @Test(arguments: [1, 3])
    func theStepsComeInTheirOrder(count: Int) throws {
        let items = try items(count, .lz4)
        let engine = try engine(with: items)
        if count == 1 { _ = try engine.open(items[0].key) }
        for result in engine.open(items.map(\.key)) { _ = try result.get() }
        let steps = operations.operations.compactMap { operation -> String? in
            switch operation.kind {
            case .synchronize: operation.name.count > 33 ? "content" : "folder"
            case .commit: "commit"
            case .rename where operation.newName?.hasPrefix("item") == true: "publish"
            case .unlink: "remove"
            default: nil
            }
        }
        func each(_ step: String) -> [String] { [String](repeating: step, count: count) }
        #expect(
            steps == ["commit"] + each("content") + each("publish") + ["folder", "commit"] + each("remove"))
    }
}
