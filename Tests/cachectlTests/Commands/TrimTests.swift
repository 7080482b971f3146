import Foundation
import Testing

@testable import cachectl

@Suite struct TrimTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func whatIsLeftIsTold() throws {
        try container.succeed("configure", "--budget", "1MiB")
        try container.succeed("put", "k", "-", input: noise(500_000, seed: 1))
        let item = try #require(container.list().first)
        let object = try container.json("trim")
        #expect(
            Set(object.keys)
                == [
                    "evictedItems", "evictedBytes", "chargedBytes", "budgetBytes", "pressure",
                    "schemaVersion",
                ])
        #expect(object["evictedItems"] as? Int == 0)
        #expect(object["chargedBytes"] as? Int == item["chargedBytes"] as? Int)
        #expect(object["budgetBytes"] as? Int == 1 << 20)
        #expect(object["pressure"] as? String == "normal")
        let charged = Size.text(try #require(item["chargedBytes"] as? Int64))
        #expect(
            try container.succeed("trim").text
                == "evicted   nothing\ncharged   [#####-----] 48 %, \(charged) of 1.0 MiB\npressure  normal\n"
        )
    }

    @Test func whatHasExpiredGoes() async throws {
        try await container.putExpired("old")
        try container.succeed("put", "new", "-", "--expires", "1h", input: text)
        try container.succeed("trim")
        #expect(try container.list().compactMap { $0["key"] as? String } == ["new"])
    }

    @Test func theColdestItemsGoThatExceedTheBudget() throws {
        try container.succeed("configure", "--budget", "1MiB")
        for key in ["a", "b", "c"] { try container.succeed("put", key, "-", input: noise(290_000, seed: 1)) }
        try container.configure(#"{"budgetBytes":800000}"#)
        let object = try container.json("trim")
        #expect(object["evictedItems"] as? Int == 1)
        #expect(object["evictedBytes"] as? Int ?? 0 > 290_000)
        #expect(try container.list().compactMap { $0["key"] as? String } == ["b", "c"])
    }

    @Test func aFullVolumeTakesEverythingAndLeavesWhatWasOpened() throws {
        for key in ["a", "b"] { try container.succeed("put", key, "-", input: text) }
        let path = try container.succeed("open", "a").text.trimmingCharacters(in: .newlines)
        try container.configure(Container.critical)
        #expect(try container.json("trim")["pressure"] as? String == "critical")
        #expect(try container.list().isEmpty)
        #expect(try Data(contentsOf: URL(filePath: path)) == text)
    }
}
