import Foundation
import PrefetchCaching
import Testing

@Suite struct StatsTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    /// A percentage above 100 would look like a broken promise.
    @Test(arguments: [
        (#"{"budgetBytes":1048576}"#, "the budget was lowered to 1.0 MiB: the app evicts the rest"),
        (Container.elevated, "the budget fell with the free space of the volume to 0 B"),
    ])
    func aBudgetThatHasShrunkIsExplained(_ configuration: String, _ explanation: String) throws {
        try container.succeed("put", "k", "-", "--encoding", "identity", input: noise(3_000_000, seed: 1))
        try Data(configuration.utf8).write(to: container.configurationFile)
        let lines = try container.succeed("stats").text.split(separator: "\n")
        #expect(lines[0].hasPrefix("budget      2.9 MiB are held, and \(explanation)"))
        #expect(try container.json("stats")["items"] as? Int == 1)
    }

    @Test func sourcesThatAreOnlyCanonicallyEquivalentAreTwo() throws {
        let sources = ["cafe\u{301}", "caf\u{E9}"]
        for (number, source) in sources.enumerated() {
            try container.succeed(
                "put", "k\(number)", "-", "--source", source, input: noise(1000 * (1 + number), seed: 1))
        }
        try container.succeed("cat", "k0")
        let rows = try #require(container.json("stats", "--by", "source")["rows"] as? [[String: Any]])
        #expect(
            rows.compactMap { $0["source"] as? String }.map { Array($0.utf8) }
                == sources.reversed().map { Array($0.utf8) })
    }

    @Test func anEmptyCacheIsNoFailure() throws {
        let object = try container.json("stats")
        #expect(object["schemaVersion"] as? Int == 1)
        #expect(object["items"] as? Int == 0)
        #expect(object["refusals"] as? [String: Int] == [:])
        let lines = try container.succeed("stats").text
        #expect(
            lines.prefixMatch(
                of: /budget      \[----------\] 0 %, 0 B of [0-9.]+ [KMG]iB, as the volume allows\n/) != nil)
        #expect(lines.contains("\npressure    normal\n"))
    }

    @Test func theBudgetIsThatOfTheContainersVolume() throws {
        #expect(
            try container.json("stats")["budgetBytes"] as? Int
                == container.json("capacity")["budgetBytes"] as? Int)
        try container.succeed("configure", "--cap", "2MiB")
        #expect(try container.succeed("stats").text.contains(", as the volume allows, up to 2.0 MiB\n"))
        try container.succeed("configure", "--budget", "3MiB")
        #expect(
            try container.succeed("stats").text.hasPrefix(
                "budget      [----------] 0 %, 0 B of 3.0 MiB\n"))
    }

    @Test func pressureIsShown() throws {
        try container.configure(Container.critical)
        #expect(try container.json("stats")["pressure"] as? String == "critical")
        #expect(try container.succeed("stats").text.contains("\npressure    critical, nothing is admitted; "))
    }

    @Test func everyFigureHasItsName() throws {
        #expect(
            Set(try container.json("stats").keys) == [
                "schemaVersion", "items", "contentBytes", "storedBytes", "chargedBytes", "budgetBytes",
                "pressure", "hits", "misses", "stores", "promotions", "evictions", "evictedBytes",
                "refusals", "catalogBytes", "quarantinedItems", "partials", "partialBytes", "figures",
            ])
    }

    @Test func theFiguresAddUp() throws {
        for key in ["a", "b", "c"] { try container.succeed("put", key, "-", input: text) }
        try container.succeed("cat", "a")
        #expect(try container.cachectl("cat", "x").status == 66)
        try container.succeed("open", "b")
        try container.succeed("evict", "--bytes", "1")

        let object = try container.json("stats")
        let item = try #require(try container.list().first)
        #expect(object["items"] as? Int == 1)
        #expect(object["contentBytes"] as? Int == text.count)
        #expect(object["storedBytes"] as? Int == item["storedBytes"] as? Int)
        #expect(object["chargedBytes"] as? Int == item["chargedBytes"] as? Int)
        #expect(object["hits"] as? Int == 2)
        #expect(object["misses"] as? Int == 1)
        #expect(object["stores"] as? Int == 3)
        #expect(object["promotions"] as? Int == 1)
        #expect(object["evictions"] as? Int == 1)
        #expect(object["pressure"] as? String == "normal")
    }

    @Test func whatWasBrokenOffIsCounted() async throws {
        #expect(try container.succeed("stats").text.contains("\npartials    none\n"))
        let cache = try await PrefetchCache(areas: .container(at: container.root))
        let metadata = ItemMetadata(key: "film", destination: .documents("film"))
        guard case .writer(let writer) = try await cache.beginStoring(metadata, keepingPartial: true) else {
            Issue.record("refused")
            return
        }
        #expect(try await writer.write(noise((1 << 20) + 5, seed: 1)) == nil)
        _ = try await writer.suspend()
        try await cache.close()
        let object = try container.json("stats")
        #expect(object["partials"] as? Int == 1)
        #expect(object["items"] as? Int == 0)
        #expect(object["partialBytes"] as? Int == object["chargedBytes"] as? Int)
        #expect(
            try container.succeed("stats").text.contains(
                "\npartials    1 interrupted, 1.0 MiB kept to resume\n"))
        #expect(try container.succeed("list").text == "no items\n")
        #expect(try container.succeed("list", "--partials").text.contains("1.0 MiB  1.0 MiB  partial "))
        let partials = try #require(container.json("list", "--partials")["items"] as? [[String: Any]])
        #expect(partials.map { $0["status"] as? String } == ["partial"])
        #expect(partials.first?["key"] as? String == "film")
        let shown = try container.succeed("show", "film").text
        #expect(shown.contains("content      1.0 MiB (1048576 bytes) so far\n"))
        #expect(try container.json("show", "film")["status"] as? String == "partial")
        #expect(partials.first?["contentBytes"] as? Int == 1 << 20)
        try container.succeed("evict", "--all")
        #expect(try container.json("stats")["chargedBytes"] as? Int == 0)
    }

    @Test func theBarShowsTheBudget() throws {
        try container.succeed("configure", "--budget", "1MiB")
        try container.succeed("put", "k", "-", input: noise(500_000, seed: 1))
        let lines = try container.succeed("stats").text
        #expect(lines.hasPrefix("budget      [#####-----] 48 %, "))
    }
}
