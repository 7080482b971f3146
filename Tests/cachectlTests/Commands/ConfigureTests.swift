import Foundation
import Testing

@testable import cachectl

@Suite struct ConfigureTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private var file: URL { container.configurationFile }

    @Test func withoutOptionsEverySettingIsPrintedAndNothingIsWritten() throws {
        let budget = try #require(container.json("capacity")["budgetBytes"] as? Int)
        let text = try container.succeed("configure").text
        #expect(
            text.split(separator: "\n").map { $0.prefix { $0 != " " } } == [
                "budget", "cap", "largest", "keep", "storing", "policy", "capacity",
            ])
        #expect(text.contains(/budget          automatic, now .+ \(\d+ bytes\)\n/))
        #expect(text.contains(/cap             none\n/))
        #expect(text.contains(/largest item    automatic, half the budget, now .+ \(\d+ bytes\)\n/))
        #expect(text.contains(/keep free       automatic, now .+ \(\d+ bytes\)\n/))
        #expect(text.hasSuffix("storing         on\npolicy          lru\ncapacity model  default\n"))

        let object = try container.json("configure")
        #expect(
            Set(object.keys) == [
                "budget", "budgetBytes", "budgetCapBytes", "largestItemBytes", "keptFreeBytes", "storing",
                "evictionPolicy", "isDefaultBudget", "isDefaultCapacityModel", "schemaVersion",
            ])
        #expect(object["budget"] as? String == "automatic")
        #expect(object["budgetCapBytes"] is NSNull)
        #expect(object["largestItemBytes"] is NSNull)
        #expect(object["storing"] as? Bool == true)
        #expect(object["evictionPolicy"] as? String == "lru")
        #expect(object["isDefaultBudget"] as? Bool == true)
        #expect(object["isDefaultCapacityModel"] as? Bool == true)
        // Other tests write to the same volume.
        let inForce = try #require(object["budgetBytes"] as? Int)
        #expect(abs(inForce - budget) <= max(budget, inForce) / 10)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func theBudgetIsKept() throws {
        let text = try container.succeed("configure", "--budget", "1.5MiB").text
        #expect(text.hasPrefix("budget          1.5 MiB (1572864 bytes), fixed\n"))
        let object = try container.json("configure")
        #expect(object["budget"] as? String == "fixed")
        #expect(object["budgetBytes"] as? Int == 1_572_864)
        #expect(object["budgetCapBytes"] is NSNull)
        #expect(object["isDefaultBudget"] as? Bool == false)
        #expect(try container.json("stats")["budgetBytes"] as? Int == 1_572_864)
    }

    @Test func whatASmallerBudgetEvictsIsCounted() throws {
        for key in ["a", "b"] { try container.succeed("put", key, "-", input: noise(300_000, seed: 1)) }
        #expect(
            try container.succeed("configure", "--budget", "500kB").text
                .hasSuffix("\n\nevicted 1 item, \(Size.text(300_000 + 4096))\n"))
        let object = try container.json("configure", "--budget", "100kB")
        #expect(object["evictedItems"] as? Int == 1)
        #expect(try container.json("configure")["evictedItems"] == nil)
    }

    @Test func aFixedBudgetBecomesAutomaticAgain() throws {
        try container.succeed("configure", "--budget", "1.5MiB")
        let object = try container.json("configure", "--budget", "automatic")
        #expect(object["budget"] as? String == "automatic")
        #expect(object["isDefaultBudget"] as? Bool == true)
        #expect(try #require(object["budgetBytes"] as? Int) > 1_572_864)
    }

    @Test(arguments: [["--cap", "4MiB"], ["--budget", "automatic", "--cap", "4MiB"]])
    func anAutomaticBudgetCanBeLimited(_ options: [String]) throws {
        try container.succeed("configure", "--budget", "1GiB")
        let outcome = try Tool.run(
            Tool.path, ["configure", "--json", "--container", container.root.path] + options,
            in: container.folder)
        let object = try #require(JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        #expect(object["budget"] as? String == "automatic")
        #expect(object["budgetCapBytes"] as? Int == 4 << 20)
        #expect(object["isDefaultBudget"] as? Bool == false)
        #expect(try #require(object["budgetBytes"] as? Int) <= 4 << 20)
        #expect(try container.succeed("configure").text.contains("cap             4.0 MiB (4194304 bytes)\n"))
    }

    @Test func aLimitStaysUntilItIsTakenAway() throws {
        try container.succeed("configure", "--cap", "4MiB")
        #expect(try container.json("configure", "--budget", "automatic")["budgetCapBytes"] as? Int == 4 << 20)
        #expect(try container.json("configure", "--storing", "on")["budgetCapBytes"] as? Int == 4 << 20)
        let object = try container.json("configure", "--cap", "none")
        #expect(object["budgetCapBytes"] is NSNull)
        #expect(object["isDefaultBudget"] as? Bool == true)
    }

    @Test func noLimitLeavesAFixedBudgetAlone() throws {
        try container.succeed("configure", "--budget", "1MiB")
        let object = try container.json("configure", "--cap", "none")
        #expect(object["budget"] as? String == "fixed")
        #expect(object["budgetBytes"] as? Int == 1 << 20)
    }

    @Test func aFixedBudgetWithALimitIsAnErrorThatChangesNothing() throws {
        let container = try Container(hasCache: false)
        let outcome = try container.cachectl("configure", "--budget", "1GiB", "--cap", "2GiB")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("give one of the two"))
        #expect(!FileManager.default.fileExists(atPath: container.root.path))
    }

    @Test func everySettingChangesAlone() throws {
        try container.succeed("configure", "--budget", "4MiB")
        try container.succeed("configure", "--largest", "1MiB")
        try container.succeed("configure", "--storing", "off")
        try container.succeed("configure", "--policy", "value")
        let object = try container.json("configure")
        #expect(object["budgetBytes"] as? Int == 4 << 20)
        #expect(object["largestItemBytes"] as? Int == 1 << 20)
        #expect(object["storing"] as? Bool == false)
        #expect(object["evictionPolicy"] as? String == "value")
        #expect(
            try container.succeed(
                "configure", "--largest", "automatic", "--storing", "on", "--policy", "lru",
                "--keep-free", "1MiB"
            )
            .text.hasSuffix(
                """
                largest item    automatic, half the budget, now 2.0 MiB (2097152 bytes)
                keep free       1.0 MiB (1048576 bytes)
                storing         on
                policy          lru
                capacity model  default

                """))
    }

    @Test func theLargestItemIsKept() throws {
        try container.succeed("configure", "--budget", "8MiB", "--largest", "100kB")
        let outcome = try container.cachectl("put", "k", "-", input: noise(200_000, seed: 1))
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("largerThanLargestItem"))
        #expect(outcome.errors.contains("'cachectl configure --largest'"))
        try container.succeed("put", "k", "-", input: noise(50_000, seed: 1))
    }

    @Test func whatIsStoredCanBeReadWhileStoringIsOff() throws {
        try container.succeed("put", "k", "-", input: text)
        try container.succeed("configure", "--storing", "off")
        let outcome = try container.cachectl("put", "l", "-", input: text)
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("(disabled)"))
        #expect(outcome.errors.contains("'cachectl configure --storing on'"))
        #expect(try container.succeed("cat", "k").output == text)
        try container.succeed("configure", "--storing", "on")
        try container.succeed("put", "l", "-", input: text)
    }

    @Test func constantsOfAModelAreKeptWhenSomethingElseChanges() throws {
        try container.configure(#"{"schemaVersion":1,"capacityModel":{"cap":1048576}}"#)
        let object = try container.json("configure", "--policy", "value")
        #expect(object["isDefaultCapacityModel"] as? Bool == false)
        #expect(try #require(object["budgetBytes"] as? Int) <= 1 << 20)
        #expect(
            try container.succeed("configure").text.contains(
                "capacity model  customised, see configuration.json\n"))
    }

    @Test func aSmallerBudgetEvictsAtOnce() throws {
        for key in ["a", "b"] { try container.succeed("put", key, "-", input: noise(100_000, seed: 1)) }
        try container.succeed("configure", "--budget", "220kB")
        #expect(try container.list().compactMap { $0["key"] as? String } == ["b"])
    }

    @Test(arguments: ["{", #"{"schemaVersion":1,"budgetBytes":-1}"#, #"{"schemaVersion":99}"#])
    func aFileThatCannotBeUsedIsNamedAndLeftAlone(_ content: String) throws {
        try container.succeed("configure", "--budget", "1MiB")
        try Data(content.utf8).write(to: file)
        let outcome = try container.cachectl("configure", "--budget", "2MiB")
        #expect(outcome.status == 78)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("configuration.json"))
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(try Data(contentsOf: file) == Data(content.utf8))
    }
}
