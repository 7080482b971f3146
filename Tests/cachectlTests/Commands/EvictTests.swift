import Foundation
import Testing

@Suite struct EvictTests {
    let container: Container

    init() throws {
        container = try Container()
        for key in ["a", "b", "c"] { try container.succeed("put", key, "-", input: noise(10_000, seed: 1)) }
    }

    private var keys: [String] {
        get throws { try container.list().compactMap { $0["key"] as? String } }
    }

    @Test func theNamedItemsGo() throws {
        #expect(try container.succeed("evict", "c", "a").text == "evicted c\nevicted a\n")
        #expect(try keys == ["b"])
    }

    @Test func anUnknownKeyIsReportedAfterTheOthersWent() throws {
        let outcome = try container.cachectl("evict", "x", "a", "y", "a")
        #expect(outcome.status == 66)
        #expect(outcome.text == "evicted a\n")
        #expect(outcome.errors.contains("'x', 'y'"))
        #expect(try keys == ["b", "c"])
    }

    @Test func jsonTellsOfTheOthersBesideAnUnknownKey() throws {
        let outcome = try container.cachectl("evict", "x", "a", "--json")
        #expect(outcome.status == 66)
        let record = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
        #expect(record?["evicted"] as? [String] == ["a"])
    }

    @Test func everythingGoes() throws {
        let count = try keys.count
        let text = try container.succeed("evict", "--all").text
        #expect(text.hasPrefix("freed ") && text.hasSuffix(" of \(count) items\n"))
        #expect(try keys.isEmpty)
    }

    @Test func whatIsDamagedIsCountedApart() throws {
        let container = try Container()
        try container.succeed("put", "k", "-", "--encoding", "identity", input: noise(200_000, seed: 1))
        let file = try FileHandle(forWritingTo: container.onlyItemFile())
        try file.truncate(atOffset: 1000)
        try file.close()
        #expect(try container.cachectl("cat", "k").status == 65)
        try container.succeed("put", "l", "-", input: text)
        let dry = try container.succeed("evict", "--all", "--dry-run").text
        #expect(dry.contains("would evict a quarantined item\n"))
        #expect(dry.hasSuffix(" of 1 item and 1 partial or damaged item\n"))
        #expect(
            try container.succeed("evict", "--all").text
                .hasSuffix(" of 1 item and 1 partial or damaged item\n"))
    }

    @Test func theColdestItemsGoFirst() throws {
        try container.succeed("cat", "a")
        let freed = try container.json("evict", "--bytes", "10001")["freedBytes"] as? Int
        #expect(try #require(freed) >= 10_001)
        #expect(try keys == ["c", "a"])
    }

    @Test func anOpenedItemIsNoItemAnyMore() throws {
        let path = try container.succeed("open", "a").text.trimmingCharacters(in: .newlines)
        #expect(try container.cachectl("evict", "a").status == 66)
        try container.succeed("evict", "--all")
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func jsonTellsWhatWasEvicted() throws {
        #expect(try container.json("evict", "a", "b")["evicted"] as? [String] == ["a", "b"])
        let freed = try container.json("evict", "--all")["freedBytes"] as? Int
        #expect(try #require(freed) > 10_000)
    }
}
