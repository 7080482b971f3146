import Foundation
import Testing

@Suite struct ExpiryTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func theExpiryAndThePriorityReachTheItem() async throws {
        let begin = Int64(Date().timeIntervalSince1970 * 1000)
        try await container.succeed("put", "k", "-", "--expires", "7d", "--priority", "0.25", input: text)
        let end = Int64(Date().timeIntervalSince1970 * 1000)
        let week: Int64 = 604_800_000
        for item in [try #require(await container.list().first), try await container.json("show", "k")] {
            let expiry = try #require(item["expiresAtMilliseconds"] as? Int64)
            #expect((begin + week - 1...end + week + 1).contains(expiry))
            #expect(item["priority"] as? Double == 0.25)
        }
        try await container.succeed("put", "longest", "-", "--expires", "53375995583d", input: text)
        #expect(try await container.json("show", "longest")["expiresAtMilliseconds"] is Int64)
    }

    @Test func theExpiryIsShown() async throws {
        try await container.succeed("put", "k", "-", "--expires", "7d", input: text)
        try await container.succeed("put", "l", "-", input: text)
        #expect(try await container.succeed("show", "k").text.contains(/\nexpires      \d{4}-\d\d-\d\dT/))
        #expect(try await container.succeed("show", "l").text.contains("\nexpires      never\n"))
        #expect(try await container.json("show", "l")["expiresAtMilliseconds"] is NSNull)
        let lines = try await container.succeed("list").text.split(separator: "\n")
        #expect(lines.first?.contains("EXPIRES") == true)
        #expect(lines.contains { $0.hasSuffix("  k") && $0.contains(/\d\d:\d\d:\d\dZ/) })
        #expect(lines.contains { $0.hasSuffix("  l") && $0.contains("  never  ") })
    }

    @Test(arguments: ["cat", "open"])
    func anExpiredItemIsNotFound(_ command: String) async throws {
        try await container.putExpired("k")
        let outcome = try await container.cachectl(command, "k")
        #expect(outcome.status == 66 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("expired"))
        #expect(try await container.list().isEmpty)
    }

    @Test func anItemOfLowerPriorityGoesFirst() async throws {
        try await container.succeed("put", "hot", "-", "--priority", "0.9", input: text)
        try await container.succeed("put", "cold", "-", input: text)
        try await container.succeed("evict", "--bytes", "1")
        #expect(try await container.keys == ["hot"])
    }

    @Test func aWrongValueIsNamedWithItsOption() async throws {
        for (option, value) in [
            ("--expires", "7"), ("--expires", "-7d"), ("--priority", "nan"), ("--priority", "2"),
        ] {
            let outcome = try await container.cachectl("put", "k", "-", option, value, input: text)
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.errors.contains("'\(value)' is invalid for '\(option) "))
            #expect(outcome.errors.split(separator: "\n").count == 1)
        }
    }
}
