import Foundation
import Testing

@Suite struct ExpiryTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func theExpiryAndThePriorityReachTheItem() throws {
        let begin = Int64(Date().timeIntervalSince1970 * 1000)
        try container.succeed("put", "k", "-", "--expires", "7d", "--priority", "0.25", input: text)
        let end = Int64(Date().timeIntervalSince1970 * 1000)
        let week: Int64 = 604_800_000
        for item in [try #require(container.list().first), try container.json("show", "k")] {
            let expiry = try #require(item["expiresAtMilliseconds"] as? Int64)
            #expect((begin + week - 1...end + week + 1).contains(expiry))
            #expect(item["priority"] as? Double == 0.25)
        }
    }

    @Test func theExpiryIsShown() throws {
        try container.succeed("put", "k", "-", "--expires", "7d", input: text)
        try container.succeed("put", "l", "-", input: text)
        #expect(try container.succeed("show", "k").text.contains(/\nexpires      \d{4}-\d\d-\d\dT/))
        #expect(try container.succeed("show", "l").text.contains("\nexpires      never\n"))
        #expect(try container.json("show", "l")["expiresAtMilliseconds"] is NSNull)
        let lines = try container.succeed("list").text.split(separator: "\n")
        #expect(lines.first?.contains("EXPIRES") == true)
        #expect(lines.contains { $0.hasSuffix("  k") && $0.contains(/\d\d:\d\d:\d\dZ/) })
        #expect(lines.contains { $0.hasSuffix("  l") && $0.contains("  never  ") })
    }

    @Test(arguments: ["cat", "open"])
    func anExpiredItemIsNotFound(_ command: String) async throws {
        try await container.putExpired("k")
        let outcome = try container.cachectl(command, "k")
        #expect(outcome.status == 66)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("expired"))
        #expect(try container.list().isEmpty)
    }

    @Test func theLongestLifetimeIsAnExpiry() throws {
        try container.succeed("put", "k", "-", "--expires", "53375995583d", input: text)
        #expect(try #require(container.list().first)["expiresAtMilliseconds"] is Int64)
        #expect(try container.succeed("cat", "k").output == text)
    }

    @Test func anItemOfLowerPriorityGoesFirst() throws {
        try container.succeed("put", "hot", "-", "--priority", "0.9", input: text)
        try container.succeed("put", "cold", "-", input: text)
        try container.succeed("evict", "--bytes", "1")
        #expect(try container.list().compactMap { $0["key"] as? String } == ["hot"])
    }

    @Test(arguments: [("--expires", "7"), ("--expires", "-7d"), ("--priority", "nan"), ("--priority", "2")])
    func aWrongValueIsRefusedInOneLineAndNothingIsStored(_ option: String, _ value: String) throws {
        let container = try Container(hasCache: false)
        let outcome = try container.cachectl("put", "k", "-", option, value, input: text)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("'\(value)' is invalid for '\(option) "))
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(!FileManager.default.fileExists(atPath: container.root.path))
    }
}
