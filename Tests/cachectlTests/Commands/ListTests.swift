import Foundation
import Testing

@Suite struct ListTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func anEmptyCacheIsNoFailure() async throws {
        #expect(try await container.succeed("list").text == "no items\n")
        let json = try await container.succeed("list", "--json").text
        #expect(json == "{\n\"items\" : [],\n\"schemaVersion\" : 1\n}\n")
    }

    @Test func itIsSortedAndFilteredAndBeginsWithTheColdest() async throws {
        for (key, source, copies) in [("b", "one", 3), ("c", "two", 1), ("a", "one", 2)] {
            let content = Data(repeating: 0x61, count: copies * 10_000)
            try await container.succeed(
                "put", key, "-", "--source", source, "--expires", "\(copies)h", input: content)
        }
        func expect(_ keys: String, _ options: String...) async throws {
            let list = try await container.cachectl(["list", "--json"] + options).object
            let found = try #require(list["items"] as? [[String: Any]]).compactMap { $0["key"] as? String }
            #expect(found.joined() == keys, "\(options)")
        }
        try await expect("bca")
        try await expect("abc", "--sort", "key")
        try await expect("bac", "--sort", "size")
        try await expect("bca", "--sort", "age")
        try await expect("cab", "--sort", "expiry")
        try await expect("ab", "--source", "one", "--sort", "key")
        try await expect("b", "--larger-than", "20000")
        try await expect("bca", "--older-than", "0s")
        try await expect("", "--older-than", "1h")
        #expect(try await container.succeed("list", "--older-than", "1h").text == "none of them\n")
        try await container.succeed("cat", "b")
        try await expect("cab")
        try await container.succeed("open", "b", "a")
        try await expect("ab", "--opened", "--sort", "key")
        try await expect("", "--opened", "--source", "two")
    }

    @Test func jsonTellsEverythingOfAnItemWhichIsAnLZ4File() async throws {
        try await container.succeed("put", "the key", "-", "--source", "feed", input: text)
        let item = try #require(await container.list().first)
        #expect(item["key"] as? String == "the key" && item["source"] as? String == "feed")
        #expect(item["encoding"] as? String == "lz4")
        #expect(item["contentBytes"] as? Int == text.count)
        #expect(item["lastUse"] is Int && item["expiresAtMilliseconds"] is NSNull)
        let stored = try #require(item["storedBytes"] as? Int)
        #expect(stored < text.count && stored < item["chargedBytes"] as? Int ?? 0)
        let path = try #require(item["path"] as? String)
        let pattern = /Library\/Caches\/PrefetchCache\/items\/([0-9a-f]{2})\/\1[0-9a-f]{30}/
        #expect(path.wholeMatch(of: pattern) != nil, "relative to the container")
        let file = try await container.onlyItemFile()
        #expect(try Data(contentsOf: file).count == stored)
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/lz4") else { return }
        for (option, output) in [("-t", Data()), ("-dc", text)] {
            let outcome = try Tool.start("/usr/bin/lz4", [option, file.path], in: container.folder)
            #expect(outcome.status == 0 && outcome.output == output)
        }
    }

    @Test func openedFilesAreListedInTheOrderOfTheirFirstOpen() async throws {
        #expect(try await container.succeed("list", "--opened").text == "nothing was opened\n")
        for key in ["b", "a", "cached"] {
            try await container.succeed("put", key, "-", "--to", "documents", input: text)
        }
        try await container.succeed("open", "b", "a")
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents/b"))

        let lines = try await container.succeed("list", "--opened").text.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].wholeMatch(of: /.* 204 KiB +none  exclude  documents  b    Documents\/b/) != nil)
        #expect(lines[2].wholeMatch(of: /.* 204 KiB +204 KiB  exclude  documents  a    Documents\/a/) != nil)

        let list = try await container.json("list", "--opened")
        let files = try #require(list["items"] as? [[String: Any]])
        #expect(files.map { $0["key"] as? String } == ["b", "a"])
        #expect(files.map { $0["status"] as? String } == ["lost", "promoted"])
        #expect(files.map { $0["path"] as? String } == ["Documents/b", "Documents/a"])
        #expect(files[0]["presentBytes"] is NSNull)
        #expect(files[1]["presentBytes"] as? Int == text.count)
        #expect(files.allSatisfy { $0["openedAtMilliseconds"] is Int })
    }

    @Test func hostileNamesCannotControlTheTerminal() async throws {
        let key = "k\u{1B}[2J\u{202E}\n"
        try await container.succeed("put", key, "-", "--source", "s\u{9B}31m", input: text)
        let table = try await container.succeed("list").text
        #expect(table.contains(#"k\u{1B}[2J\u{202E}\u{A}"#))
        #expect(table.contains(#"s\u{9B}31m"#))
        #expect(table.split(separator: "\n").count == 2)
        #expect(try await container.keys == [key])
    }
}
