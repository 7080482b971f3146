import Foundation
import PrefetchCaching
import Testing

@Suite struct CapacityTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private func object(_ name: String, of object: [String: Any]) throws -> [String: Any] {
        try #require(object[name] as? [String: Any])
    }

    private func bytes(_ name: String, of object: [String: Any]) throws -> Int64 {
        try #require(object[name] as? Int64)
    }

    @Test func whatIsChargedAddsUp() async throws {
        try await container.succeed("configure", "--budget", "1MiB")
        try await container.succeed("put", "k", "-", input: noise(100_000, seed: 1))
        let item = try #require(await container.list().first)
        let capacity = try await container.json("capacity")
        let usage = try object("usage", of: capacity)
        #expect(capacity["budget"] as? String == "fixed")
        #expect(capacity["budgetBytes"] as? Int64 == 1 << 20)
        #expect(usage["largestItemBytes"] as? Int64 == 1 << 19)
        #expect(usage["chargedBytes"] as? Int64 == item["chargedBytes"] as? Int64)
        #expect(capacity["evictableBytes"] as? Int64 == item["chargedBytes"] as? Int64)
        #expect(usage["heldBytes"] as? Int64 == 0)
        let rest = try bytes("ceilingBytes", of: usage) - bytes("chargedBytes", of: usage)
        #expect(try bytes("freeBytes", of: usage) == rest - bytes("catalogBytes", of: usage))
    }

    @Test func theTextTellsEveryStepInItsOrder() async throws {
        let text = try await container.succeed("capacity").text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.filter { $0.last == " " }.isEmpty)
        let names = lines.filter { $0.hasPrefix("  ") }.map { line in
            line.dropFirst(2).split(separator: /\s{2,}/, maxSplits: 1).first.map(String.init)
        }
        #expect(
            names == [
                "total", "available", "ours", "low", "reserve", "important", "opportunistic", "U + A", "room",
                "share", "cap", "smallest", "quantum", "budget", "budget", "ceiling", "largest item",
                "charged", "held", "catalog", "free", "elevated", "low", "critical",
            ])
    }

    @Test func aCapAndTheConstantsOfTheModelAreHonoured() async throws {
        try await container.configure(
            #"{"budgetCapBytes":3000000,"capacityModel":{"cap":5000000,"quantumLimit":4096}}"#)
        let capacity = try await container.json("capacity")
        let derivation = try object("derivation", of: capacity)
        #expect(capacity["budget"] as? String == "automatic")
        #expect(capacity["budgetCapBytes"] as? Int64 == 3_000_000)
        #expect(derivation["capBytes"] as? Int64 == 3_000_000)
        #expect(derivation["quantumBytes"] as? Int64 == 4096)
        let budget = try bytes("budgetBytes", of: capacity)
        #expect(budget % 4096 == 0 || budget == 3_000_000)
        #expect(try budget <= min(3_000_000, bytes("roomBytes", of: derivation)))
        #expect(try object("model", of: capacity)["cap"] as? Int64 == 5_000_000)
        #expect(try await container.succeed("capacity").text.contains("as configured; otherwise 4.8 MiB"))
    }

    @Test func aFixedBudgetIsLimitedByTheRoom() async throws {
        try await container.succeed("configure", "--budget", "8388607TiB")
        let capacity = try await container.json("capacity")
        #expect(capacity["budgetBytes"] as? Int64 == 8_388_607 << 40)
        #expect(
            try bytes("ceilingBytes", of: object("usage", of: capacity))
                == bytes("roomBytes", of: object("derivation", of: capacity)))
        let text = try await container.succeed("capacity").text
        #expect(text.contains("fixed by the configuration\n"))
        #expect(text.contains("the room on the volume, which is less than the budget\n"))
    }

    @Test func withoutPressureItemsAreAdmitted() async throws {
        let capacity = try await container.json("capacity")
        #expect(capacity["pressure"] as? String == "normal")
        #expect(capacity["pressureEndsAtBytes"] is NSNull)
        #expect(capacity["refusal"] is NSNull)
        #expect(capacity["refusalMessage"] is NSNull)
        #expect(
            try await container.succeed("capacity").text.hasPrefix(
                "pressure  normal\nadmitted  items of up to "))
    }

    @Test func whatFreeSpaceWouldDoIsToldWithoutIt() async throws {
        let now = try await container.json("capacity")
        let short = try await container.json("capacity", "--free", "1MB")
        #expect(short["availableBytes"] as? Int64 == 1_000_000)
        #expect(short["pressure"] as? String == "critical" && short["refusal"] as? String == "pressure")
        let ample = try await container.json("capacity", "--free", "\(try bytes("totalBytes", of: now))")
        #expect(try bytes("budgetBytes", of: ample) >= bytes("budgetBytes", of: now))
        #expect(try await container.json("capacity")["pressure"] as? String == "normal", "it was only asked")
    }

    @Test(
        arguments: [
            (#"{"storing":false}"#, "disabled"), (#"{"budgetBytes":0}"#, "overBudget"),
            (#"{"budgetBytes":40000}"#, "overBudget"), (#"{"budgetCapBytes":0}"#, "overBudget"),
            (#"{"largestItemBytes":1}"#, "largerThanLargestItem"),
        ])
    func whyNothingIsAdmittedIsWhatAStoreIsToldThen(_ configuration: String, _ reason: String) async throws {
        try await container.configure(configuration)
        let capacity = try await container.json("capacity")
        #expect(capacity["refusal"] as? String == reason)
        #expect(capacity["refusalMessage"] is String)
        #expect(try await container.succeed("capacity").text.contains("\nadmitted  nothing: "))
        let outcome = try await container.cachectl("put", "k", "-", input: Data("a".utf8))
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("(\(reason))"))
    }
}
