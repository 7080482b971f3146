import Foundation
import Testing

@Suite struct EvictTests {
    let container: Container

    init() async throws {
        container = try Container()
        for key in ["a", "b", "c"] {
            try await container.succeed(
                "put", key, "-", "--source", key == "b" ? "two" : "one", input: noise(10_000, seed: 1))
        }
    }

    @Test func theNamedItemsGo() async throws {
        #expect(try await container.succeed("evict", "c", "a").text == "evicted c\nevicted a\n")
        #expect(try await container.keys == ["b"])
        let freed = try await container.json("evict", "--all")["freedBytes"] as? Int
        #expect(try #require(freed) > 10_000)
    }

    @Test func anUnknownKeyIsReportedAfterTheOthersWent() async throws {
        let outcome = try await container.cachectl("evict", "x", "a", "y", "a")
        #expect(outcome.status == 66)
        #expect(outcome.text == "evicted a\n")
        #expect(outcome.errors.contains("'x', 'y'"))
        let told = try await container.cachectl("evict", "x", "b", "--json")
        #expect(told.status == 66)
        #expect(try told.object["evicted"] as? [String] == ["b"])
        #expect(try await container.keys == ["c"])
    }

    @Test func whatIsDamagedIsCountedApart() async throws {
        let container = try Container()
        try await container.succeed("put", "k", "-", "--encoding", "identity", input: noise(200_000, seed: 1))
        let file = try FileHandle(forWritingTo: await container.onlyItemFile())
        try file.truncate(atOffset: 1000)
        try file.close()
        #expect(try await container.cachectl("cat", "k").status == 65)
        try await container.succeed("put", "l", "-", input: text)
        let dry = try await container.succeed("evict", "--all", "--dry-run").text
        #expect(dry.contains("would evict a quarantined item\n"))
        for told in [dry, try await container.succeed("evict", "--all").text] {
            #expect(told.hasSuffix(" of 1 item and 1 partial or damaged item\n"))
        }
    }

    @Test func anOpenedItemIsNoItemAnyMore() async throws {
        let path = try await container.succeed("open", "a").text.trimmingCharacters(in: .newlines)
        let told = try await container.cachectl("evict", "a")
        #expect(told.status == 66)
        #expect(told.errors.contains("'a' was opened, and its file is the user's: 'cachectl forget'"))
        let text = try await container.succeed("evict", "--all").text
        #expect(text.hasPrefix("freed ") && text.hasSuffix(" of 2 items\n"))
        #expect(try await container.list().isEmpty)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func evictionsCanBeTriedFirst() async throws {
        for arguments in [["--all"], ["--bytes", "1"], ["--source", "one"], ["--to-bytes", "0"], ["a"]] {
            let outcome = try await container.cachectl(["evict", "--dry-run"] + arguments)
            #expect(outcome.status == 0)
            #expect(outcome.text.hasPrefix("would evict a\n"), "\(arguments): \(outcome.text)")
        }
        #expect(try await container.list().count == 3)
        let nothing = try await container.succeed("evict", "--source", "one", "--older-than", "1d").text
        #expect(nothing == "nothing was evicted\n")
        #expect(try await container.json("evict", "--source", "one")["evicted"] as? [String] == ["a", "c"])
        #expect(try await container.keys == ["b"])
    }
}
