import Foundation
import StorageInventory
import Testing

@testable import cachectl

@Suite struct InventoryTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private func fill() async throws {
        try await container.succeed("put", "ahead", "-", "--source", "feed", input: text)
        try await container.succeed(
            "put", "film", "-", "--to", "documents", "--name", "Film.txt", input: text + Data("film".utf8))
        try await container.succeed("open", "film")
    }

    private func files(_ options: String...) async throws -> [[String: Any]] {
        let record = try await container.cachectl(["inventory", "--files", "--json"] + options).object
        return try #require(record["files"] as? [[String: Any]])
    }

    // MARK: What it prints

    @Test func whatAFeatureWritesIsSeenByDiff() async throws {
        try await fill()
        func lines() async throws -> Set<Substring> {
            let list = try await container.succeed("inventory", "--files", "--json").text
            return Set(list.split(separator: "\n").map { $0.hasSuffix(",") ? $0.dropLast() : $0 })
        }
        let before = try await lines()
        #expect(try await lines() == before)
        try container.write("scan", to: "Documents/Scan.txt")
        let new = try await lines().subtracting(before).filter {
            $0.hasPrefix("{\"allocatedBytes") && $0.contains("\"path\"")
        }
        #expect(new.count == 1 && new.first?.contains("Documents/Scan.txt") == true)
    }

    @Test func sumsAreByAreaAndKindAndAsTheSystemShowsThem() async throws {
        try await fill()
        let lines = try await container.succeed("inventory").text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("AREA") == true)
        #expect(lines.contains { $0.contains("documents  promoted") })
        #expect(lines.contains { $0.contains("caches") && $0.contains(" item ") })
        for title in ["Documents & Data", "Caches and tmp", "Total", "Backup"] {
            #expect(lines.contains { $0.hasPrefix(title) }, "\(title)")
        }
        #expect(try await container.json("inventory")["files"] == nil)
    }

    @Test func filtersSelectFiles() async throws {
        try await fill()
        for (options, count) in [
            (["--area", "documents"], 1), (["--kind", "item"], 1), (["--source", "feed"], 1),
            (["--area", "documents", "--kind", "item"], 0), (["--kind", "item", "--kind", "promoted"], 2),
            (["--kind", "promoted", "--larger-than", "10kB"], 1), (["--older-than", "1d"], 0),
            (["--kind", "promoted", "--larger-than", "1MB"], 0), (["--area", "tmp"], 0),
        ] {
            let record = try await container.cachectl(["inventory", "--files", "--json"] + options).object
            #expect((record["files"] as? [Any])?.count == count, "\(options)")
        }
    }

    @Test func hostileNamesNeitherControlTheTerminalNorBreakTheJSON() async throws {
        try container.write("x", to: "Documents/n\u{1B}[2J\u{202E}\n")
        // Bytes that are no UTF-8, which Foundation cannot write.
        #expect(try container.shell(#"touch "$CONTAINER/Documents/$(printf 'a\377b')""#).status == 0)
        let table = try await container.succeed("inventory", "--files").text
        #expect(table.contains(#"Documents/n\u{1B}[2J\u{202E}\u{A}"#))
        #expect(table.contains(#"Documents/a\xFFb"#))
        #expect(table.split(separator: "\n").count == 3)
        let files = try await files()
        #expect(files.contains { $0["path"] as? String == "Documents/n\u{1B}[2J\u{202E}\n" })
        let bytes = files.compactMap { $0["path"] as? [String: String] }
        #expect(bytes.map { $0["text"] } == [#"Documents/a\xFFb"#])
        let decoded = bytes.first?["base64"].flatMap { Data(base64Encoded: $0) }
        #expect(decoded == Data("Documents/a".utf8) + [0xFF] + Data("b".utf8))
    }

    /// Swift takes them for equal, and so did the inventory, but not the rest.
    @Test func sourcesOfDifferentBytesAreDifferent() async throws {
        for source in ["caf\u{E9}", "cafe\u{301}"] {
            let key = "\(source.utf8.count)"
            try await container.succeed("put", key, "-", "--source", source, input: text)
        }
        for source in ["caf\u{E9}", "cafe\u{301}"] {
            let keys = try await files("--source", source).compactMap { $0["key"] as? String }
            #expect(keys == ["\(source.utf8.count)"])
        }
    }

    // MARK: Checks

    @Test func aFindingIsTheExitCode() async throws {
        try await fill()
        let clean = try await container.succeed("inventory", "--check")
        #expect(clean.text.hasPrefix("nothing wrong with "))
        try container.write("left", to: "Library/Caches/PrefetchCache/junk")
        let found = try await container.cachectl("inventory", "--check")
        #expect(found.status == 1)
        #expect(found.text.hasPrefix("warning: Library/Caches/PrefetchCache/junk: "))
        #expect(found.text.contains(" [abandoned]\n"))
        let record = try await container.cachectl("inventory", "--check", "--json")
        #expect(record.status == 1)
        let findings = try #require(record.object["findings"] as? [[String: Any]])
        #expect(findings.map { $0["rule"] as? String } == ["abandoned"])
    }

    @Test func theSettingsOfTheAppAreHeldAgainstItsDocuments() async throws {
        try await fill()
        func check(_ plist: String) async throws -> Tool.Outcome {
            let file = try container.folder.write(Data(plist.utf8), to: "Info.plist")
            return try await container.cachectl("inventory", "--check", "--plist", file.path)
        }
        let found = try await check("<plist version=\"1.0\"><dict/></plist>")
        #expect(found.status == 1 && found.text.contains("[file-sharing]"))
        let damaged = try await check("no plist")
        #expect(damaged.status == 65 && damaged.errors.contains("not a property list"))
        #expect(try await container.cachectl("inventory", "--check", "--plist", "/nowhere").status == 66)
    }

    @Test func theRulesAreListedWithoutAContainer() async throws {
        let outcome = try await Tool.run(["inventory", "--rules"], in: container.folder)
        #expect(outcome.status == 0)
        for rule in StorageRules.infos { #expect(outcome.text.contains("\(rule.name) (")) }
    }

    /// The reader has seen enough; the script still learns what was found.
    @Test func aReaderThatLeavesDoesNotHideFindings() async throws {
        try await container.succeed("put", "k", "-", "--to", "documents", input: text)
        try await container.succeed("open", "k")
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents/k"))
        let line =
            #"{ "$CACHECTL" inventory --check --container "$CONTAINER"; echo $? >code; } | "#
            + #"{ exec <&-; while [ ! -s code ]; do :; done; cat code; }"#
        #expect(try container.shell(line).text == "1\n")
    }

    // MARK: Where it looks

    @Test func aContainerWithNothingOfOursIsNoFailureAndStaysAsItIs() async throws {
        let container = try Container(hasCache: false)
        try container.write("x", to: "Documents/mine.txt")
        #expect(try await container.succeed("inventory").text.contains("documents  foreign"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.root.path) == ["Documents"])
    }

    @Test func aBundleOfXcodeIsAContainer() async throws {
        let home = container.folder.url
        try container.write("x", to: "../Podcasts.xcappdata/AppData/Documents/mine.txt")
        try FileManager.default.createSymbolicLink(
            atPath: home.appending(path: "link").path, withDestinationPath: "Podcasts.xcappdata")
        for name in [
            "Podcasts.xcappdata", "Podcasts.xcappdata/.", "Podcasts.xcappdata/AppData/..", "link", "link/",
            "link/.", "Podcasts.xcappdata/AppData/.",
        ] {
            let path = "\(home.path)/\(name)"
            let outcome = try await Tool.run(
                ["inventory", "--container", path, "--files"], in: container.folder)
            #expect(outcome.status == 0, "\(name)")
            #expect(outcome.text.contains(" Documents/mine.txt"), "\(name)")
        }
        let inside = try container.shell(
            #"cd Podcasts.xcappdata && "$CACHECTL" inventory --container . --files"#)
        #expect(inside.text.contains(" Documents/mine.txt"))
    }

    @Test func whatIsNoFolderIsAClearError() async throws {
        let container = try Container(hasCache: false)
        let missing = try await container.cachectl("inventory")
        #expect(missing.status == 66 && missing.errors.contains("there is no folder"))
        #expect(!FileManager.default.fileExists(atPath: container.root.path))
        try Data().write(to: container.root)
        let file = try await container.cachectl("inventory")
        #expect(file.status == 73 && file.errors.contains("is not a folder"))
    }

    @Test func theAreasOfAnAppAreLookedAtEachOnItsOwn() throws {
        let outcome = try container.shell(
            #"""
            cd; id=org.example.app; mkdir -p .local/share/$id Documents/$id .cache/$id
            echo 'the plan of the day' | tee .local/share/$id/Plan.txt >Documents/$id/Plan.txt; echo >not-of-the-app
            "$CACHECTL" inventory --files --app $id; "$CACHECTL" inventory --check --app $id
            """#)
        let lines = outcome.text.split(separator: "\n")
        #expect(Set(lines.dropFirst().prefix(2).map { $0.prefix { $0 != " " } }) == ["documents", "support"])
        let same = "Documents/Plan.txt: it has the same content as Library/Application Support/Plan.txt"
        #expect(lines.dropFirst(3).first?.contains(same) == true, "\(outcome.text)\(outcome.errors)")
    }
}
