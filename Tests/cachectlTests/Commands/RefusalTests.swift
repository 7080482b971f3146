import Foundation
import Testing

@Suite struct RefusalTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test(arguments: ["-", "noise"])
    func anItemBeyondTheBudgetIsRefusedWithItsReason(_ input: String) throws {
        let content = noise(3 << 20, seed: 1)
        try container.folder.write(content, to: "noise")
        try container.succeed("configure", "--budget", "1MiB")

        let outcome = try container.cachectl("put", "k", input, input: content)
        #expect(outcome.status == 75)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("cachectl: error: 'k' was refused (largerThanLargestItem): "))
        #expect(outcome.errors.contains("configure --budget"))
        #expect(try container.list().isEmpty)
    }

    @Test func jsonTellsTheReason() throws {
        try container.succeed("configure", "--budget", "1MiB")
        let outcome = try container.cachectl("put", "k", "-", "--json", input: noise(3 << 20, seed: 1))
        #expect(outcome.status == 75)
        let object = try #require(JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        #expect(Set(object.keys) == ["refused", "message", "schemaVersion"])
        #expect(object["refused"] as? String == "largerThanLargestItem")
        let failure = try outcome.failure
        #expect(failure.error == "refused")
        #expect(failure.exitCode == 75)
        #expect(failure.message.contains("configure --budget"))
    }

    @Test func anOpenedItemIsNotReplaced() throws {
        try container.succeed("put", "k", "-", input: text)
        try container.succeed("open", "k")
        let outcome = try container.cachectl("put", "k", "-", input: noise(10, seed: 1))
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("alreadyPromoted"))
        #expect(try container.succeed("cat", "k").output == text)
    }

    @Test(arguments: [
        ("elevated", Container.elevated), ("low", Container.low), ("critical", Container.critical),
    ])
    func aShortVolumeRefusesWithItsLevel(_ level: String, _ configuration: String) throws {
        try container.configure(configuration)
        for input in ["-", "file"] {
            try container.folder.write(text, to: "file")
            let outcome = try container.cachectl("put", "k", input, input: text)
            #expect(outcome.status == 75)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains("refused (pressure): the volume is short of space (\(level)); "))
            #expect(outcome.errors.contains("'cachectl capacity'"))
        }
        #expect(try container.json("stats")["refusals"] as? [String: Int] == ["pressure": 2])
    }

    @Test func aCacheWithoutABudgetRefusesWithItsFigures() throws {
        try container.succeed("configure", "--budget", "0")
        let outcome = try container.cachectl("put", "k", "-", input: text)
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("refused (overBudget): "))
        #expect(
            outcome.errors.contains(
                "the budget of 0 bytes in addition to the catalog and what may not be evicted; "
                    + "'cachectl capacity' shows"
            ))
    }

    @Test func itemsOfAHigherPriorityDoNotMakeWay() throws {
        try container.succeed("configure", "--budget", "1MiB")
        for number in 0..<2 {
            let content = noise(450_000, seed: UInt64(number))
            try container.succeed("put", "high-\(number)", "-", "--priority", "1", input: content)
        }
        let outcome = try container.cachectl("put", "k", "-", "--json", input: noise(200_000, seed: 2))
        #expect(outcome.status == 75)
        let object = try #require(JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        #expect(object["refused"] as? String == "lowPriority")
        #expect(outcome.errors.contains("'k' was refused (lowPriority): "))
        #expect(outcome.errors.contains("--priority"))
        #expect(try container.succeed("stats").text.contains("1 lowPriority"))
        try container.succeed(
            "put", "k", "-", "--priority", "1", input: noise(200_000, seed: 2))
    }

    @Test func refusalsAreCountedPerReason() throws {
        try container.succeed("configure", "--budget", "1MiB")
        for _ in 1...2 {
            #expect(try container.cachectl("put", "k", "-", input: noise(3 << 20, seed: 1)).status == 75)
        }
        #expect(try container.json("stats")["refusals"] as? [String: Int] == ["largerThanLargestItem": 2])
    }
}
