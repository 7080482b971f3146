import Foundation
import Testing

@testable import cachectl

@Suite struct ConfigureTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private func configure(_ options: String...) async throws -> [String: Any] {
        let outcome = try await container.cachectl(["configure", "--json"] + options)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try outcome.object
    }

    @Test func withoutOptionsEverySettingIsPrintedAndNothingIsWritten() async throws {
        let budget = try #require(await container.json("capacity")["budgetBytes"] as? Int)
        let text = try await container.succeed("configure").text
        #expect(
            text.contains(
                #/budget          automatic, now .+ \(\d+ bytes\)\ncap             none\nlargest item    automatic, half the budget, now .+ \(\d+ bytes\)\nkeep free       automatic, now .+ \(\d+ bytes\)\nstoring         on\npolicy          lru\ncapacity model  default\n$/#
            ))
        let object = try await configure()
        #expect(object["budget"] as? String == "automatic")
        #expect(object["budgetCapBytes"] is NSNull && object["largestItemBytes"] is NSNull)
        #expect(object["storing"] as? Bool == true)
        #expect(object["evictionPolicy"] as? String == "lru")
        #expect(object["isDefaultBudget"] as? Bool == true)
        #expect(object["isDefaultCapacityModel"] as? Bool == true)
        // Other tests write to the same volume.
        let inForce = try #require(object["budgetBytes"] as? Int)
        #expect(abs(inForce - budget) <= max(budget, inForce) / 10)
        #expect(!FileManager.default.fileExists(atPath: container.configurationFile.path))
    }

    @Test func theBudgetIsFixedAndBecomesAutomaticAgain() async throws {
        let text = try await container.succeed("configure", "--budget", "1.5MiB").text
        #expect(text.hasPrefix("budget          1.5 MiB (1572864 bytes), fixed\n"))
        let fixed = try await configure("--cap", "none")
        #expect(fixed["budget"] as? String == "fixed", "there was no limit to remove")
        #expect(fixed["budgetBytes"] as? Int == 1_572_864)
        #expect(fixed["budgetCapBytes"] is NSNull)
        #expect(fixed["isDefaultBudget"] as? Bool == false)
        #expect(try await container.json("stats")["budgetBytes"] as? Int == 1_572_864)
        let automatic = try await configure("--budget", "automatic")
        #expect(automatic["budget"] as? String == "automatic")
        #expect(automatic["isDefaultBudget"] as? Bool == true)
        #expect(try #require(automatic["budgetBytes"] as? Int) > 1_572_864)
    }

    @Test func anAutomaticBudgetIsLimitedUntilTheLimitIsTakenAway() async throws {
        try await container.succeed("configure", "--budget", "1GiB")
        for options in [["--cap", "4MiB"], ["--budget", "automatic"], ["--storing", "on"]] {
            let object = try await container.cachectl(["configure", "--json"] + options).object
            #expect(object["budget"] as? String == "automatic")
            #expect(object["budgetCapBytes"] as? Int == 4 << 20)
            #expect(object["isDefaultBudget"] as? Bool == false)
            #expect(try #require(object["budgetBytes"] as? Int) <= 4 << 20)
        }
        let text = try await container.succeed("configure").text
        #expect(text.contains("cap             4.0 MiB (4194304 bytes)\n"))
        let object = try await configure("--cap", "none")
        #expect(object["budgetCapBytes"] is NSNull)
        #expect(object["isDefaultBudget"] as? Bool == true)
        #expect(
            try await configure("--budget", "automatic", "--cap", "4MiB")["budgetCapBytes"] as? Int == 4 << 20
        )
    }

    @Test func everySettingChangesAlone() async throws {
        for (option, value) in [
            ("budget", "4MiB"), ("largest", "1MiB"), ("storing", "off"), ("policy", "value"),
        ] {
            try await container.succeed("configure", "--\(option)", value)
        }
        let object = try await configure()
        #expect(object["budgetBytes"] as? Int == 4 << 20)
        #expect(object["largestItemBytes"] as? Int == 1 << 20)
        #expect(object["storing"] as? Bool == false)
        #expect(object["evictionPolicy"] as? String == "value")
        let text = try await container.succeed(
            "configure", "--largest", "automatic", "--storing", "on", "--policy", "lru", "--keep-free", "1MiB"
        ).text
        #expect(
            text.hasSuffix(
                """
                largest item    automatic, half the budget, now 2.0 MiB (2097152 bytes)
                keep free       1.0 MiB (1048576 bytes)
                storing         on
                policy          lru
                capacity model  default

                """))
    }

    @Test func whatIsStoredCanBeReadWhileStoringIsOff() async throws {
        try await container.succeed("put", "k", "-", input: text)
        try await container.succeed("configure", "--storing", "off")
        let outcome = try await container.cachectl("put", "l", "-", input: text)
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("(disabled)"))
        #expect(outcome.errors.contains("'cachectl configure --storing on'"))
        #expect(try await container.succeed("cat", "k").output == text)
        try await container.succeed("configure", "--storing", "on")
        try await container.succeed("put", "l", "-", input: text)
    }

    @Test func constantsOfAModelAreKeptWhenSomethingElseChanges() async throws {
        try await container.configure(#"{"schemaVersion":1,"capacityModel":{"cap":1048576}}"#)
        let object = try await configure("--policy", "value")
        #expect(object["isDefaultCapacityModel"] as? Bool == false)
        #expect(try #require(object["budgetBytes"] as? Int) <= 1 << 20)
        let text = try await container.succeed("configure").text
        #expect(text.contains("capacity model  customised, see configuration.json\n"))
    }

    @Test func whatASmallerBudgetEvictsIsCounted() async throws {
        for key in ["a", "b"] {
            try await container.succeed("put", key, "-", input: noise(300_000, seed: 1))
        }
        let told = try await container.succeed("configure", "--budget", "500kB").text
        #expect(told.hasSuffix("\n\nevicted 1 item, \(Size.text(300_000 + 4096))\n"))
        #expect(try await container.keys == ["b"])
        #expect(try await configure("--budget", "100kB")["evictedItems"] as? Int == 1)
        #expect(try await configure()["evictedItems"] == nil)
    }

    @Test(arguments: ["{", #"{"schemaVersion":1,"budgetBytes":-1}"#, #"{"schemaVersion":99}"#])
    func aFileThatCannotBeUsedIsNamedAndLeftAlone(_ content: String) async throws {
        try await container.configure(content)
        let outcome = try await container.cachectl("configure", "--budget", "2MiB")
        #expect(outcome.status == 78)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("configuration.json"))
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(try Data(contentsOf: container.configurationFile) == Data(content.utf8))
    }
}
