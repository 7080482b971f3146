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

    /// Swift takes them for equal.
    @Test func sourcesOfDifferentBytesAreDifferent() async throws {
        let sources = ["caf\u{E9}", "cafe\u{301}"]
        for (number, source) in sources.enumerated() {
            let content = noise(1000 * (2 - number), seed: 1)
            try await container.succeed("put", "k\(number)", "-", "--source", source, input: content)
        }
        for (number, source) in sources.enumerated() {
            let rows = try await container.json("list", "--source", source)["items"] as? [[String: Any]]
            #expect(rows?.map { $0["key"] as? String } == ["k\(number)"])
        }
        let rows = try await #require(container.json("stats", "--by", "source")["rows"] as? [[String: Any]])
        let told = rows.compactMap { ($0["source"] as? String).map { Array($0.utf8) } }
        #expect(told == sources.map { Array($0.utf8) })
    }

    @Test func fromTheDraftToACleanCheck() async throws {
        try await fill()
        try container.write("{}", to: "Library/Application Support/state.json")
        func check(_ manifest: String) async throws -> Tool.Outcome {
            let file = try container.folder.write(Data(manifest.utf8), to: "storage.json")
            return try await container.cachectl("inventory", "--check", "--manifest", file.path)
        }
        let draft = try await container.succeed("inventory", "--draft-manifest").text
        let open = try await check(draft)
        #expect(open.status == 1)
        let rules = open.text.matches(of: #/\[([a-z-]+)\]/#).map { String($0.1) }
        #expect(rules == ["purpose-to-do", "purpose-to-do"])
        let done = draft.replacing("TODO: ", with: "")
        let clean = try await check(done)
        #expect(clean.status == 0 && clean.text.hasPrefix("nothing wrong with "))
        try container.write("x", to: "Library/Application Support/other")
        let found = try await check(done)
        #expect(found.status == 1)
        #expect(found.text.hasPrefix("warning: Library/Application Support/other: "))
        #expect(found.text.contains(" [unexplained]\n"))
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
