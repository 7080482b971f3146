import Foundation
import Testing

@Suite struct ExpiryTests {
    let container: Container

    init() throws {
        container = try Container()
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
}
