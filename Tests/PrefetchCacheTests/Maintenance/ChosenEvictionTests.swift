import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

@Suite struct ChosenEvictionTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws {
        engine = try container.engine()
        for (key, source) in [("a", "one"), ("b", "two"), ("c", "one"), ("d", "two")] {
            let metadata = ItemMetadata(try ItemKey(key), source: source)
            try engine.store(noise(5000, seed: UInt64(key.utf8.first ?? 0)), as: metadata)
        }
    }

    private var keys: [String] { get throws { try engine.items().map(\.key.string) } }

    /// Evicts, after a dry run that has told the same and changed nothing.
    private func evict(_ request: EvictionRequest) throws -> [String] {
        let before = try engine.items()
        let files = try container.files(below: container.items)
        let told = try engine.evict(request, isDryRun: true)
        #expect(try engine.items() == before)
        #expect(try container.files(below: container.items) == files)
        let done = try engine.evict(request, isDryRun: false)
        #expect(done == told)
        return done.compactMap(\.key?.string)
    }

    @Test func thoseOfASourceGo() throws {
        #expect(try evict(EvictionRequest(source: "one")) == ["a", "c"])
        #expect(try keys == ["b", "d"])
        #expect(try evict(EvictionRequest(source: "nobody")).isEmpty)
    }

    @Test func thoseStoredBeforeATimeGo() throws {
        let third = try #require(try engine.items().first { $0.key == "c" })
        // A use makes nothing younger.
        _ = try engine.content("a")
        #expect(try evict(EvictionRequest(storedBefore: third.storedDate)) == ["b", "a"])
        #expect(try keys == ["c", "d"])
    }

    @Test func bothConditionsHold() throws {
        let third = try #require(try engine.items().first { $0.key == "c" })
        #expect(try evict(EvictionRequest(source: "two", storedBefore: third.storedDate)) == ["b"])
    }

    @Test func theColdestGoUntilTheRestIsSmallEnough() throws {
        let each = try #require(try engine.items().first).chargedBytes
        _ = try engine.content("a")
        #expect(try evict(EvictionRequest(amount: .downTo(.bytes(2 * each)))) == ["b", "c"])
        #expect(try evict(EvictionRequest(amount: .downTo(.bytes(2 * each)))).isEmpty)
        #expect(try evict(EvictionRequest(amount: .downTo(.bytes(2 * each - 1)))) == ["d"])
    }

    @Test func theColdestOfASourceGoUntilItIsSmallEnough() throws {
        let each = try #require(try engine.items().first).chargedBytes
        #expect(try evict(EvictionRequest(source: "two", amount: .downTo(.bytes(each)))) == ["b"])
        #expect(try keys == ["a", "c", "d"])
    }

    @Test(arguments: EvictionPolicyChoice.allCases)
    func aDryRunTellsWhatThePolicyWouldChoose(_ policy: EvictionPolicyChoice) throws {
        _ = try engine.configure { $0.evictionPolicy = policy }
        _ = try engine.content("a")
        let each = try #require(try engine.items().first).chargedBytes
        #expect(try evict(EvictionRequest(amount: .atLeast(.bytes(2 * each)))).count == 2)
        #expect(try evict(EvictionRequest(amount: .all)).count == 2)
    }

    @Test func whatIsReadStays() throws {
        let file = try #require(try engine.folders.openItemToStay(ItemKey("a").hash))
        defer { engine.environment.fileSystem.close(file) }
        #expect(try evict(EvictionRequest(source: "one")) == ["c"])
        #expect(try keys == ["a", "b", "d"])
    }

    @Test(arguments: ["one", nil])
    func anotherGoesInPlaceOfOneThatIsRead(_ source: String?) throws {
        let file = try #require(try engine.folders.openItemToStay(ItemKey("a").hash))
        defer { engine.environment.fileSystem.close(file) }
        let request = EvictionRequest(source: source, amount: .atLeast(.bytes(1)))
        #expect(try evict(request) == [source == nil ? "b" : "c"])
    }

    @Test func whatHasExpiredGoesFirst() throws {
        let now = try container.engine().environment.now()
        try engine.store(noise(5000, seed: 9), as: ItemMetadata("old", expiresAt: now + 60_000))
        for _ in 0..<100 { _ = engine.environment.now() }
        #expect(try evict(EvictionRequest(amount: .atLeast(.bytes(1)))) == ["old"])
    }
}
