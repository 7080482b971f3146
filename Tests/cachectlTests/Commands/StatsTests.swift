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
    func aBudgetThatHasShrunkIsExplained(_ configuration: String, _ explanation: String) async throws {
        try await container.succeed(
            "put", "k", "-", "--encoding", "identity", input: noise(3_000_000, seed: 1))
        try Data(configuration.utf8).write(to: container.configurationFile)
        let text = try await container.succeed("stats").text
        #expect(text.hasPrefix("budget      2.9 MiB are held, and \(explanation)"))
        #expect(try await container.json("stats")["items"] as? Int == 1)
    }

    @Test func sourcesThatAreOnlyCanonicallyEquivalentAreTwo() async throws {
        let sources = ["cafe\u{301}", "caf\u{E9}"]
        for (number, source) in sources.enumerated() {
            let content = noise(1000 * (1 + number), seed: 1)
            try await container.succeed("put", "k\(number)", "-", "--source", source, input: content)
        }
        try await container.succeed("cat", "k0")
        let rows = try await #require(container.json("stats", "--by", "source")["rows"] as? [[String: Any]])
        #expect(
            rows.compactMap { ($0["source"] as? String).map { Array($0.utf8) } }
                == sources.reversed().map { Array($0.utf8) })
        #expect(try await container.succeed("stats", "--by", "source").text.hasPrefix("STORED "))
    }

    @Test func anEmptyCacheIsNoFailure() async throws {
        let object = try await container.json("stats")
        #expect(object["items"] as? Int == 0)
        #expect(object["refusals"] as? [String: Int] == [:])
        let text = try await container.succeed("stats").text
        let budget = /budget      \[----------\] 0 %, 0 B of [0-9.]+ [KMG]iB, as the volume allows\n/
        #expect(text.prefixMatch(of: budget) != nil)
        #expect(text.contains("\npressure    normal\n"))
    }

    @Test func theBudgetIsThatOfTheContainersVolume() async throws {
        // Other tests write to the same volume.
        let budget = try #require(await container.json("capacity")["budgetBytes"] as? Int)
        let told = try #require(await container.json("stats")["budgetBytes"] as? Int)
        #expect(abs(told - budget) <= budget / 10)
        for (option, value, text) in [
            ("--cap", "2MiB", "2.0 MiB, as the volume allows, up to 2.0 MiB\n"),
            ("--budget", "3MiB", "3.0 MiB\n"),
        ] {
            try await container.succeed("configure", option, value)
            let stats = try await container.succeed("stats").text
            #expect(stats.hasPrefix("budget      [----------] 0 %, 0 B of \(text)"))
        }
        try await container.succeed("configure", "--budget", "1MiB")
        try await container.succeed("put", "k", "-", input: noise(500_000, seed: 1))
        #expect(try await container.succeed("stats").text.hasPrefix("budget      [#####-----] 48 %, "))
    }

    @Test func pressureIsShown() async throws {
        try await container.configure(Container.critical)
        #expect(try await container.json("stats")["pressure"] as? String == "critical")
        let text = try await container.succeed("stats").text
        #expect(text.contains("\npressure    critical, nothing is admitted; "))
    }

    @Test func theFiguresAddUp() async throws {
        for key in ["a", "b", "c"] { try await container.succeed("put", key, "-", input: text) }
        try await container.succeed("cat", "a")
        #expect(try await container.cachectl("cat", "x").status == 66)
        try await container.succeed("open", "b")
        try await container.succeed("evict", "--bytes", "1")
        #expect(
            try await container.succeed("stats").text.contains(
                "\nworth it    67 % of the 3 items used or left: 2 used (408 KiB), 1 wasted (204 KiB)\n"))

        let object = try await container.json("stats")
        let item = try #require(await container.list().first)
        for (name, value) in [
            ("items", 1), ("contentBytes", text.count), ("hits", 2), ("misses", 1), ("stores", 3),
            ("promotions", 1), ("evictions", 1), ("storedBytes", item["storedBytes"] as? Int),
            ("chargedBytes", item["chargedBytes"] as? Int),
        ] {
            #expect(object[name] as? Int == value, "\(name)")
        }
        #expect(object["pressure"] as? String == "normal")
    }

    @Test func everyMissOfAKeyIsOneOfItsSource() async throws {
        try await container.succeed("put", "k", "-", "--source", "feed", input: text)
        try await container.succeed("evict", "k")
        for _ in 1...3 { #expect(try await container.cachectl("cat", "k").status == 66) }
        let rows = try await #require(container.json("stats", "--by", "source")["rows"] as? [[String: Any]])
        #expect(rows.map { $0["source"] as? String } == ["feed"])
        let figures = try #require(rows.first?["figures"] as? [String: Any])
        #expect(figures["missed"] as? Int == 3 && figures["missedBytes"] as? Int == text.count)
        #expect(try await container.succeed("stats").text.contains("\nleft        1 evicted by key\n"))
    }

    @Test func whatWasBrokenOffIsCounted() async throws {
        #expect(try await container.succeed("stats").text.contains("\npartials    none\n"))
        try await container.keepPartial()
        let object = try await container.json("stats")
        #expect(object["partials"] as? Int == 1 && object["items"] as? Int == 0)
        #expect(object["partialBytes"] as? Int == object["chargedBytes"] as? Int)
        let text = try await container.succeed("stats").text
        #expect(text.contains("\npartials    1 interrupted, 1.0 MiB kept to resume\n"))
        #expect(try await container.succeed("list").text == "no items\n")
        #expect(try await container.succeed("list", "--partials").text.contains("1.0 MiB  1.0 MiB  partial "))
        let shown = try await container.succeed("show", "film").text
        #expect(shown.contains("content      1.0 MiB (1048576 bytes) so far\n"))
        #expect(try await container.json("show", "film")["status"] as? String == "partial")
        try await container.succeed("evict", "--all")
        #expect(try await container.json("stats")["chargedBytes"] as? Int == 0)
    }
}
