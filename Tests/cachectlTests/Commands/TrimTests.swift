import Foundation
import Testing

@testable import cachectl

@Suite struct TrimTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func whatIsLeftIsTold() async throws {
        try await container.succeed("configure", "--budget", "1MiB")
        try await container.succeed("put", "k", "-", input: noise(500_000, seed: 1))
        let charged = try await #require(container.list().first?["chargedBytes"] as? Int64)
        let object = try await container.json("trim")
        #expect(
            Set(object.keys) == [
                "evictedItems", "evictedBytes", "chargedBytes", "budgetBytes", "pressure", "schemaVersion",
            ])
        #expect(object["evictedItems"] as? Int == 0)
        #expect(object["chargedBytes"] as? Int64 == charged)
        #expect(object["budgetBytes"] as? Int == 1 << 20)
        #expect(
            try await container.succeed("trim").text == """
                evicted   nothing
                charged   [#####-----] 48 %, \(Size.text(charged)) of 1.0 MiB
                pressure  normal

                """)
    }

    @Test func whatHasExpiredGoes() async throws {
        try await container.putExpired("old")
        try await container.succeed("put", "new", "-", "--expires", "1h", input: text)
        try await container.succeed("trim")
        #expect(try await container.keys == ["new"])
    }
}
