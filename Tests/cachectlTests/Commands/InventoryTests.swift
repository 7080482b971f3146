import Foundation
import PrefetchFileSystem
import PrefetchStorageInventory
import Testing

@testable import cachectl

@Suite struct InventoryTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private func fill() throws {
        try container.succeed("put", "ahead", "-", "--source", "feed", input: text)
        try container.succeed(
            "put", "film", "-", "--to", "documents", "--name", "Film.txt", input: text + Data("film".utf8))
        try container.succeed("open", "film")
    }

    private func write(_ content: String, to path: String) throws {
        let file = container.root.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content.utf8).write(to: file)
    }

    // MARK: What it prints

    @Test func sumsAreByAreaAndKindAndAsTheSystemShowsThem() throws {
        try fill()
        let lines = try container.succeed("inventory").text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("AREA") == true)
        #expect(lines.contains { $0.contains("documents  promoted") })
        #expect(lines.contains { $0.contains("caches") && $0.contains(" item ") })
        for title in ["Documents & Data", "Caches and tmp", "Total", "Backup"] {
            #expect(lines.contains { $0.hasPrefix(title) }, "\(title)")
        }
        let record = try container.json("inventory")
        #expect(record["schemaVersion"] as? Int == 1)
        #expect(record["files"] == nil)
    }

    @Test func jsonTellsWhyAFileIsThere() throws {
        try fill()
        let record = try container.json("inventory", "--files")
        let files = try #require(record["files"] as? [[String: Any]])
        let item = try #require(files.first { $0["kind"] as? String == "item" })
        #expect(item["key"] as? String == "ahead")
        #expect(item["source"] as? String == "feed")
        #expect(item["intent"] as? String == "opportunistic")
        #expect(item["contentBytes"] as? Int == text.count)
        #expect(item["purgeable"] as? Bool == true)
        let backup = try #require(item["backup"] as? [String: Any])
        #expect(backup["wanted"] as? Bool == false)
        #expect(backup["actual"] as? Bool == false)
        #expect(backup["excludedBy"] as? [String] == ["area", "cacheTag"])
        let film = try #require(files.first { $0["path"] as? String == "Documents/Film.txt" })
        #expect(film["kind"] as? String == "promoted")
        #expect(film["visible"] as? Bool == true)
        let totals = try #require(record["totals"] as? [String: Any])
        #expect(totals["files"] as? Int == files.count)
    }

    @Test func csvHasALinePerFile() throws {
        try fill()
        try write("x", to: "Documents/a, \"b\"\n.txt")
        let lines = try container.succeed("inventory", "--csv").text.split(
            separator: "\r\n", omittingEmptySubsequences: false)
        #expect(String(lines[0]) == CSV.header.joined(separator: ","))
        #expect(lines.last == "")
        let files = try #require(try container.json("inventory")["totals"] as? [String: Any])["files"]
        #expect(lines.count - 2 == files as? Int)
        #expect(lines.contains { $0.hasPrefix(#""Documents/a, ""b""\u{A}.txt",documents,foreign,1,"#) })
    }

    @Test(
        arguments: [
            (["--area", "documents"], 1), (["--kind", "item"], 1), (["--source", "feed"], 1),
            (["--area", "documents", "--kind", "item"], 0), (["--kind", "item", "--kind", "promoted"], 2),
            (["--kind", "promoted", "--larger-than", "10kB"], 1), (["--older-than", "1d"], 0),
            (["--kind", "promoted", "--larger-than", "1MB"], 0), (["--area", "tmp"], 0),
        ])
    func filtersSelectFiles(_ arguments: [String], _ count: Int) throws {
        try fill()
        let outcome = try Tool.run(
            Tool.path, ["inventory", "--files", "--json", "--container", container.root.path] + arguments,
            in: container.folder)
        let record = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        #expect((record["files"] as? [Any])?.count == count)
    }

    @Test func hostileNamesNeitherControlTheTerminalNorBreakTheJSON() throws {
        try write("x", to: "Documents/n\u{1B}[2J\u{202E}\n")
        // Bytes that are no UTF-8, which Foundation cannot write.
        #expect(try container.shell(#"touch "$CONTAINER/Documents/$(printf 'a\377b')""#).status == 0)
        let table = try container.succeed("inventory", "--files").text
        #expect(table.contains(#"Documents/n\u{1B}[2J\u{202E}\u{A}"#))
        #expect(table.contains(#"Documents/a\xFFb"#))
        #expect(table.split(separator: "\n").count == 3)
        let files = try #require(try container.json("inventory", "--files")["files"] as? [[String: Any]])
        #expect(files.contains { $0["path"] as? String == "Documents/n\u{1B}[2J\u{202E}\n" })
        let bytes = files.compactMap { $0["path"] as? [String: String] }
        #expect(bytes.map { $0["text"] } == [#"Documents/a\xFFb"#])
        let decoded = bytes.first?["base64"].flatMap { Data(base64Encoded: $0) }
        #expect(decoded == Data("Documents/a".utf8) + [0xFF] + Data("b".utf8))
    }

    /// Swift takes them for equal, and so did the inventory, but not the rest.
    @Test func sourcesOfDifferentBytesAreDifferent() throws {
        let sources = ["caf\u{E9}", "cafe\u{301}"]
        for source in sources {
            let key = "\(source.utf8.count)"
            try container.succeed("put", key, "-", "--source", source, input: text)
        }
        for source in sources {
            let record = try container.json("inventory", "--files", "--source", source)
            let files = try #require(record["files"] as? [[String: Any]])
            #expect(files.compactMap { $0["key"] as? String } == ["\(source.utf8.count)"])
        }
    }

    // MARK: Checks

    @Test func aFindingIsTheExitCode() throws {
        try fill()
        let clean = try container.succeed("inventory", "--check")
        #expect(clean.text.hasPrefix("nothing wrong with "))
        try write("left", to: "Library/Caches/PrefetchCache/junk")
        let found = try container.cachectl("inventory", "--check")
        #expect(found.status == 1)
        #expect(found.text.hasPrefix("warning: Library/Caches/PrefetchCache/junk: "))
        #expect(found.text.contains(" [abandoned]\n"))
        let record = try container.cachectl("inventory", "--check", "--json")
        #expect(record.status == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: record.output) as? [String: Any])
        let findings = try #require(object["findings"] as? [[String: Any]])
        #expect(findings.map { $0["rule"] as? String } == ["abandoned"])
    }

    @Test func theSettingsOfTheAppAreHeldAgainstItsDocuments() throws {
        try fill()
        let plist = try container.folder.write(
            Data("<plist version=\"1.0\"><dict/></plist>".utf8), to: "Info.plist")
        let found = try container.cachectl("inventory", "--check", "--plist", plist.path)
        #expect(found.status == 1)
        #expect(found.text.contains("[file-sharing]"))
    }

    @Test func theRulesAreListedWithoutAContainer() throws {
        let outcome = try Tool.run(Tool.path, ["inventory", "--rules"], in: container.folder)
        #expect(outcome.status == 0)
        for rule in StorageRules.infos { #expect(outcome.text.contains("\(rule.name) (")) }
    }

    /// The reader has seen enough; the script still learns what was found.
    @Test func aReaderThatLeavesDoesNotHideFindings() throws {
        try container.succeed("put", "k", "-", "--to", "documents", input: text)
        try container.succeed("open", "k")
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents/k"))
        let line =
            #"{ "$CACHECTL" inventory --check --container "$CONTAINER"; echo $? >code; } | "#
            + #"{ exec <&-; while [ ! -s code ]; do :; done; cat code; }"#
        #expect(try container.shell(line).text == "1\n")
    }

    // MARK: Where it looks

    @Test func aContainerWithNothingOfOursIsNoFailureAndStaysAsItIs() throws {
        let container = try Container(hasCache: false)
        try FileManager.default.createDirectory(
            at: container.root.appending(path: "Documents"), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: container.root.appending(path: "Documents/mine.txt"))
        let text = try container.succeed("inventory").text
        #expect(text.contains("documents  foreign"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.root.path) == ["Documents"])
    }

    @Test func aBundleOfXcodeIsAContainer() throws {
        let bundle = container.folder.url.appending(path: "Podcasts.xcappdata")
        let file = bundle.appending(path: "AppData/Documents/mine.txt")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: file)
        let outcome = try Tool.run(
            Tool.path, ["inventory", "--container", bundle.path, "--files"], in: container.folder)
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("Documents/mine.txt"))
    }

    @Test(arguments: [
        ("Podcasts.xcappdata", "."), ("Podcasts.xcappdata", "./."), (".", "link"), (".", "link/"),
        ("Podcasts.xcappdata/AppData", ".."), ("link", "."), (".", "Podcasts.xcappdata/AppData/."),
    ])
    func aBundleIsRecognisedHoweverItIsNamed(_ folder: String, _ name: String) throws {
        let home = container.folder.url
        let file = home.appending(path: "Podcasts.xcappdata/AppData/Documents/mine.txt")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: file)
        try FileManager.default.createSymbolicLink(
            atPath: home.appending(path: "link").path, withDestinationPath: "Podcasts.xcappdata")
        let line = #"cd '\#(folder)' && "$CACHECTL" inventory --container '\#(name)' --files"#
        let outcome = try container.shell(line)
        #expect(outcome.status == 0)
        #expect(outcome.text.contains(" Documents/mine.txt"))
    }

    @Test func whatIsNoFolderIsAClearError() throws {
        let container = try Container(hasCache: false)
        let missing = try container.cachectl("inventory")
        #expect(missing.status == 66)
        #expect(missing.errors.contains("there is no folder"))
        #expect(!FileManager.default.fileExists(atPath: container.root.path))
        try Data().write(to: container.root)
        let file = try container.cachectl("inventory")
        #expect(file.status == 73)
        #expect(file.errors.contains("is not a folder"))
    }

    @Test func aPropertyListThatIsNoneIsAClearError() throws {
        try fill()
        let missing = try container.cachectl("inventory", "--check", "--plist", "/nowhere/Info.plist")
        #expect(missing.status == 66)
        let other = try container.folder.write(Data("no plist".utf8), to: "Info.plist")
        let damaged = try container.cachectl("inventory", "--check", "--plist", other.path)
        #expect(damaged.status == 65)
        #expect(damaged.errors.contains("not a property list"))
    }

    @Test func theAreasOfAnAppAreLookedAtEachOnItsOwn() throws {
        let home = container.folder.url
        let file = home.appending(path: ".local/share/org.example.app/state.json")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: file)
        try Data("{}".utf8).write(to: home.appending(path: "not-of-the-app"))
        let outcome = try Tool.run(
            Tool.path, ["inventory", "--app", "org.example.app", "--files"], in: container.folder)
        #expect(outcome.status == 0)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.hasPrefix("support") == true)
    }
}
