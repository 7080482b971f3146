import Foundation
import Testing

@Suite struct ListTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func anEmptyCacheIsNoFailure() throws {
        #expect(try container.succeed("list").text == "no items\n")
        #expect(try container.list().isEmpty)
        #expect(
            try container.succeed("list", "--json").text == "{\n\"items\" : [],\n\"schemaVersion\" : 1\n}\n")
    }

    @Test func theColdestItemComesFirst() throws {
        for key in ["a", "b", "c"] { try container.succeed("put", key, "-", input: text) }
        try container.succeed("cat", "a")
        #expect(try container.list().compactMap { $0["key"] as? String } == ["b", "c", "a"])
    }

    @Test func itIsSortedAndFiltered() throws {
        for (key, source, copies) in [("b", "one", 3), ("c", "two", 1), ("a", "one", 2)] {
            let content = Data(repeating: 0x61, count: copies * 10_000)
            try container.succeed(
                "put", key, "-", "--source", source, "--expires", "\(copies)h", input: content)
        }
        func keys(_ options: String...) throws -> [String?] {
            let outcome = try Tool.run(
                Tool.path, ["list", "--json", "--container", container.root.path] + options,
                in: container.folder)
            let list = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
            return try #require(list?["items"] as? [[String: Any]]).map { $0["key"] as? String }
        }
        #expect(try keys() == ["b", "c", "a"])
        #expect(try keys("--sort", "key") == ["a", "b", "c"])
        #expect(try keys("--sort", "size") == ["b", "a", "c"])
        #expect(try keys("--sort", "age") == ["b", "c", "a"])
        #expect(try keys("--sort", "expiry") == ["c", "a", "b"])
        #expect(try keys("--source", "one", "--sort", "key") == ["a", "b"])
        #expect(try keys("--larger-than", "20000") == ["b"])
        #expect(try keys("--older-than", "0s") == ["b", "c", "a"])
        #expect(try keys("--older-than", "1h") == [])
        #expect(try container.succeed("list", "--older-than", "1h").text == "none of them\n")
        #expect(try container.cachectl("list", "--opened", "--sort", "expiry").status == 64)

        try container.succeed("open", "b", "a")
        #expect(try keys("--opened", "--sort", "key") == ["a", "b"])
        #expect(try keys("--opened", "--source", "two") == [])
    }

    @Test func itTellsHowSoonAnItemWouldGo() throws {
        for key in ["b", "a"] { try container.succeed("put", key, "-", input: text) }
        let usage = try #require(try container.json("capacity")["usage"] as? [String: Any])
        let free = try #require(usage["freeBytes"] as? Int)
        let items = try container.list()
        let charged = try #require(items[0]["chargedBytes"] as? Int)
        #expect(items.map { $0["goesAfterBytes"] as? Int } == [free, free + charged])
        let lines = try container.succeed("list").text.split(separator: "\n")
        #expect(lines[0].wholeMatch(of: /CONTENT +STORED  ENCODING +AGE  EXPIRES +GOES-AFTER .*/) != nil)
        #expect(lines[1].wholeMatch(of: /204 KiB .* \d\.\d s  never .* [\d.]+ .iB  .*/) != nil)

        // Whose turn it is changes there with every look.
        try container.succeed("configure", "--policy", "value")
        #expect(try container.list().allSatisfy { $0["goesAfterBytes"] is NSNull })
    }

    @Test func jsonTellsEverythingOfAnItem() throws {
        let file = try container.folder.write(text, to: "doc.txt")
        try container.succeed("put", "the key", file.path, "--source", "feed")
        let item = try #require(try container.list().first)

        #expect(item["key"] as? String == "the key")
        #expect(item["source"] as? String == "feed")
        #expect(item["encoding"] as? String == "lz4")
        #expect(item["contentBytes"] as? Int == text.count)
        #expect(item["lastUse"] is Int)
        #expect(item["expiresAtMilliseconds"] is NSNull)
        let stored = try #require(item["storedBytes"] as? Int)
        let charged = try #require(item["chargedBytes"] as? Int)
        #expect(stored < text.count)
        #expect(charged > stored)
        let itemFile = try container.onlyItemFile()
        #expect(try Data(contentsOf: itemFile).count == stored)
    }

    @Test func thePathIsRelativeToTheContainer() throws {
        try container.succeed("put", "k", "-", input: text)
        let path = try #require(try container.list().first?["path"] as? String)
        #expect(
            path.wholeMatch(of: /Library\/Caches\/PrefetchCache\/items\/([0-9a-f]{2})\/\1[0-9a-f]{30}/) != nil
        )
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/lz4")))
    func anItemIsAnLZ4File() throws {
        try container.succeed("put", "k", "-", input: text)
        let file = try container.onlyItemFile()
        #expect(try Tool.run("/usr/bin/lz4", ["-t", file.path], in: container.folder).status == 0)
        #expect(try Tool.run("/usr/bin/lz4", ["-dc", file.path], in: container.folder).output == text)
    }

    @Test func openedFilesAreListedInTheOrderOfTheirFirstOpen() throws {
        #expect(try container.succeed("list", "--opened").text == "nothing was opened\n")
        for key in ["b", "a", "cached"] {
            try container.succeed("put", key, "-", "--to", "documents", input: text)
        }
        try container.succeed("open", "b", "a")
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents/b"))

        let lines = try container.succeed("list", "--opened").text.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].wholeMatch(of: /.* 204 KiB +none  exclude  documents  b    Documents\/b/) != nil)
        #expect(lines[2].wholeMatch(of: /.* 204 KiB +204 KiB  exclude  documents  a    Documents\/a/) != nil)

        let files = try #require(try container.json("list", "--opened")["items"] as? [[String: Any]])
        #expect(files.map { $0["key"] as? String } == ["b", "a"])
        #expect(files.map { $0["status"] as? String } == ["lost", "promoted"])
        #expect(files.map { $0["path"] as? String } == ["Documents/b", "Documents/a"])
        #expect(files[0]["presentBytes"] is NSNull)
        #expect(files[1]["presentBytes"] as? Int == text.count)
        #expect(files.allSatisfy { $0["openedAtMilliseconds"] is Int })
        #expect(try container.cachectl("list", "--opened", "--partials").status == 64)
    }

    @Test func hostileNamesCannotControlTheTerminal() throws {
        let key = "k\u{1B}[2J\u{202E}\n"
        try container.succeed("put", key, "-", "--source", "s\u{9B}31m", input: text)
        let table = try container.succeed("list").text
        #expect(table.contains(#"k\u{1B}[2J\u{202E}\u{A}"#))
        #expect(table.contains(#"s\u{9B}31m"#))
        #expect(table.split(separator: "\n").count == 2)
        #expect(try container.list().first?["key"] as? String == key)
    }
}
