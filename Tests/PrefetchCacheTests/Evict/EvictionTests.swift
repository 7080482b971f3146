import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

@Suite struct EvictionTests {
    private let container = TemporaryContainer.make()

    /// The reference: a list of keys, the least recently used first.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func theOrderIsExactlyThatOfUse(seed: UInt64) throws {
        let engine = try container.engine()
        var generator = SeededGenerator(seed: seed)
        var order: [String] = []
        for _ in 0..<400 {
            let key = try ItemKey(number: Int.random(in: 0..<40, using: &generator))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                try engine.store(prose(Int.random(in: 0..<3000, using: &generator)), key)
                order.removeAll { $0 == key.string }
                order.append(key.string)
            case 4..<8:
                guard try engine.content(key) != nil else { break }
                order.removeAll { $0 == key.string }
                order.append(key.string)
            case 8:
                #expect(try engine.remove(key) == order.contains(key.string))
                order.removeAll { $0 == key.string }
            default:
                if Bool.random(using: &generator) { try engine.flush() }
            }
        }
        #expect(try engine.items().map(\.key.string) == order)
        while !order.isEmpty {
            _ = try engine.evict(1)
            order.removeFirst()
            #expect(try engine.items().map(\.key.string) == order)
        }
    }

    /// Whatever the order of the rows: the journal tells it.
    @Test func whatIsEvictedTogetherIsNotedInTheOrderOfEviction() throws {
        let engine = try container.engine()
        for number in 0..<40 { try engine.store(noise(100), ItemKey(number: number)) }
        for number in [7, 3, 12] { _ = try engine.content(ItemKey(number: number)) }
        try engine.flush()
        let order = try engine.items().map(\.key.string)
        let noted = try engine.catalog.transaction { transaction in
            _ = try engine.evictor.evict(atLeast: .max, from: transaction)
            return transaction.changes.events.map(\.key)
        }
        #expect(noted == order)
        // Those that left unused are remembered, and no others.
        let departed = try engine.catalog.reading { try $0.departed() }
        #expect(
            try departed
                == Set((0..<40).filter { ![3, 7, 12].contains($0) }.map { try ItemKey(number: $0).hash }))
    }

    @Test func anItemThatCannotBeRemovedDoesNotStallEviction() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        for number in 0..<10 { try engine.store(noise(10_000), ItemKey(number: number)) }
        let stuck = try CacheLayout.file(of: ItemKey(number: 0).hash).string
        fileSystem.fail(.permissionDenied) { $0.kind == .unlink && $0.name == stuck }
        _ = try engine.evict(.max)
        #expect(try engine.items().map(\.key.string) == ["item-0"])
    }

    @Test func anItemThatIsGoneAlreadyOnlyLosesItsRow() throws {
        let engine = try container.engine()
        for number in 0..<4 { try engine.store(noise(10_000), ItemKey(number: number)) }
        try container.item(ItemKey(number: 0)).remove()
        try container.item(ItemKey(number: 1)).remove()
        _ = try engine.evict(.max)
        let statistics = try engine.statistics()
        #expect(statistics.items == 0)
        #expect(statistics.evictions == 2)
    }

    @Test func itemsOfLowerPriorityGoFirst() throws {
        let engine = try container.engine()
        for (key, priority) in [("high", 1), ("low", 0), ("middle", 0.5)] as [(String, Float)] {
            try engine.store(noise(5000), as: ItemMetadata(ItemKey(key), priority: priority))
        }
        // However recently it was used.
        #expect(try engine.content("low") != nil)
        for expected in ["low", "middle", "high"] {
            let before = Set(try engine.items().map(\.key.string))
            _ = try engine.evict(1)
            #expect(before.subtracting(try engine.items().map(\.key.string)) == [expected])
        }
    }

    @Test func evictionWorksWhileTheCatalogCannotBeWritten() throws {
        let engine = try container.engine()
        for number in 0..<4 { try engine.store(noise(10_000), ItemKey(number: number)) }
        try engine.flush()
        try Data("not a database, but long enough to be taken for one".utf8).write(to: container.catalog)
        _ = try engine.evict(.max)
        #expect(try container.chargedOnDisk() == 0)
    }

    /// Another task takes items away after the transaction has begun, and before it looks for them.
    @Test func whatGoesWhileTheCatalogIsWrittenIsCountedAsWhatItWas() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        for key in ["removed", "opened", "evicted"] as [ItemKey] { try engine.store(noise(1000), key) }
        try engine.flush()
        try engine.store(noise(1000), "new")
        let name = ("new" as ItemKey).hash.hexadecimal
        let looks = fileSystem.once(before: { $0.kind == .attributes && $0.name.hasSuffix(name) }) {
            onAnotherThread { _ = try engine.remove("new") }
        }
        try engine.catalog.transaction { transaction in
            onAnotherThread {
                _ = try engine.remove("removed")
                _ = try engine.open("opened")
                _ = try engine.forget("opened")
            }
            _ = try engine.evictor.evict(atLeast: .max, because: .budget, from: transaction)
        }
        #expect(looks.value > 1)
        let figures = try engine.statistics().figures
        #expect(figures[.stored] == 4 && figures[.leftRemoved] == 2 && figures[.opened] == 1)
        #expect(figures[.leftForBudget] == 1 && figures[.leftPurged] == 0)
    }

    private func engineThatRemovesAnItem(
        in container: TemporaryContainer, _ fileSystem: InterceptingFileSystem
    ) throws -> Engine {
        let engine = try container.engine(fileSystem: fileSystem)
        // Until there is an allowance, so that the next store does not wait for the catalog.
        for key in ["one", "two", "key"] as [ItemKey] { try engine.store(noise(1000), key) }
        try engine.flush()
        _ = try engine.remove("key")
        return engine
    }

    /// The removal was to be written when another item of the key has come, be it the next one or the one after that.
    @Test(arguments: [[], ["read"], ["store", "remove"], ["store", "remove", "store", "remove"]])
    func whatIsStoredAgainWhileItsRemovalIsWrittenWasRemoved(after acts: [String]) throws {
        let fileSystem = InterceptingFileSystem()
        let container = TemporaryContainer.make(budget: .mebibytes(512))
        let engine = try engineThatRemovesAnItem(in: container, fileSystem)
        let name = ("key" as ItemKey).hash.hexadecimal
        let looks = fileSystem.once(before: { $0.kind == .attributes && $0.name.hasSuffix(name) }) {
            onAnotherThread {
                for act in acts + ["store"] {
                    switch act {
                    case "read": _ = try engine.read("key", nil)
                    case "remove": _ = try engine.remove("key")
                    default: try engine.store(noise(1000), "key")
                    }
                }
            }
        }
        try engine.flush()
        #expect(looks.value > 0)
        let figures = try engine.statistics().figures
        let (stores, removals) = (acts.filter { $0 == "store" }.count, acts.filter { $0 == "remove" }.count)
        #expect(figures[.stored] == Int64(4 + stores) && figures[.leftRemoved] == Int64(1 + removals))
        #expect(figures[.leftReplaced] == 0 && figures[.leftPurged] == 0)
    }

    /// It was there when its removal was to be written, and gone when it was to get its row.
    @Test func whatIsRemovedBetweenTwoStepsOfTheWritingWasRemoved() throws {
        let fileSystem = InterceptingFileSystem()
        let container = TemporaryContainer.make(budget: .mebibytes(512))
        let engine = try engineThatRemovesAnItem(in: container, fileSystem)
        try engine.store(noise(1000), "key")
        let name = ("key" as ItemKey).hash.hexadecimal
        // The first looks for what was removed, the second for what was stored.
        let looks = fileSystem.once(before: { $0.kind == .attributes && $0.name.hasSuffix(name) }, after: 1) {
            onAnotherThread { _ = try engine.remove("key") }
        }
        try engine.flush()
        #expect(looks.value > 1)
        let figures = try engine.statistics().figures
        #expect(figures[.stored] == 4 && figures[.leftRemoved] == 2)
        #expect(figures[.leftReplaced] == 0 && figures[.leftPurged] == 0)
    }
}
