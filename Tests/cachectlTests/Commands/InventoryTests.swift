import Foundation
import PrefetchFileSystem
import StorageInventory
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

    /// As two empty settings files are.
    @Test func contentOfAFewBytesIsNotTwice() throws {
        for content in ["{}", "fifteen bytes.."] {
            try write(content, to: "Library/Application Support/First/settings.json")
            try write(content, to: "Library/Application Support/Second/state.json")
            #expect(try !container.cachectl("inventory", "--check").text.contains("same-content"))
        }
        try write("sixteen bytes...", to: "Library/Application Support/First/settings.json")
        try write("sixteen bytes...", to: "Library/Application Support/Second/state.json")
        #expect(try container.cachectl("inventory", "--check").text.contains("same-content"))
    }

    @Test func theFilesOfAnAppAreNamedWithTheirAreas() throws {
        let outcome = try container.shell(
            #"""
            cd; id=org.example.app; mkdir -p .local/share/$id Documents/$id .cache/$id
            echo 'the plan of the day' | tee .local/share/$id/Plan.txt >Documents/$id/Plan.txt
            "$CACHECTL" --app $id inventory --check
            """#)
        #expect(
            outcome.text.contains(
                "Documents/Plan.txt: it has the same content as Library/Application Support/Plan.txt"),
            "\(outcome.text)\(outcome.errors)")
    }

    // MARK: What it prints

    @Test func whatIsOnlyConfirmedIsJSONToo() throws {
        try fill()
        for arguments in [["stats", "--reset", "--yes"], ["fetch", "--missing"]] {
            let outcome = try Tool.run(
                Tool.path, arguments + ["--json", "--container", container.root.path], in: container.folder)
            #expect(outcome.status == 0)
            #expect(throws: Never.self, "\(arguments)") {
                try JSONSerialization.jsonObject(with: Data(outcome.text.utf8))
            }
        }
    }

    @Test func whatAFeatureWritesIsSeenByDiff() throws {
        try fill()
        func lines() throws -> Set<Substring> {
            Set(try container.succeed("inventory", "--csv").text.split(whereSeparator: \.isNewline))
        }
        let before = try lines()
        #expect(try lines() == before)
        try write("scan", to: "Documents/Scan.txt")
        let new = try lines().subtracting(before)
        #expect(new.count == 1 && new.first?.contains("Documents/Scan.txt") == true)
        #expect(before.isSubset(of: try lines()))
    }

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

    /// What the schema of SARIF 2.1.0 requires of the objects that are printed; it allows no other names.
    private static let sarif: [String: (required: Set<String>, allowed: Set<String>)] = [
        "log": (["version", "runs"], ["$schema"]), "run": (["tool"], ["invocations", "results"]),
        "driver": (["name"], ["rules"]),
        "rule": (["id"], ["shortDescription", "help", "defaultConfiguration", "properties"]),
        "result": (["message"], ["ruleId", "ruleIndex", "level", "locations", "properties"]),
        "invocation": (["executionSuccessful"], ["toolExecutionNotifications"]),
        "notification": (["message"], ["level", "locations"]),
    ]

    private func check(_ objects: [[String: Any]], _ kind: String) throws {
        let (required, allowed) = try #require(Self.sarif[kind])
        for object in objects {
            #expect(required.isSubset(of: object.keys), "\(kind)")
            #expect(Set(object.keys).isSubset(of: required.union(allowed)), "\(kind)")
        }
    }

    private func sarifRun(_ outcome: Tool.Outcome) throws -> [String: Any] {
        let log = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        try check([log], "log")
        #expect(log["version"] as? String == "2.1.0")
        let runs = try #require(log["runs"] as? [[String: Any]])
        try check(runs, "run")
        return try #require(runs.first)
    }

    @Test func theLogForCodeReviewsIsAsItsStandardRequires() throws {
        try fill()
        let line = #"cd "$CONTAINER/Documents" && mkdir 'a: b' && >"a: b/$(printf 'ü%%\377').log""#
        #expect(try container.shell(line).status == 0)
        try write("left", to: "Library/Caches/PrefetchCache/junk")
        let outcome = try container.cachectl("inventory", "--check", "--sarif")
        #expect(outcome.status == 1)
        let run = try sarifRun(outcome)
        let driver = try #require((run["tool"] as? [String: [String: Any]])?["driver"])
        try check([driver], "driver")
        let rules = try #require(driver["rules"] as? [[String: Any]])
        try check(rules, "rule")
        #expect(rules.map { $0["id"] as? String } == StorageRules.infos.map(\.name))
        let results = try #require(run["results"] as? [[String: Any]])
        try check(results, "result")
        for result in results {
            let rule = rules[try #require(result["ruleIndex"] as? Int)]
            #expect(rule["id"] as? String == result["ruleId"] as? String)
            let level = (rule["defaultConfiguration"] as? [String: String])?["level"]
            #expect(["note", "warning", "error"].contains(result["level"] as? String))
            #expect(result["level"] as? String == level)
            #expect(((result["message"] as? [String: String])?["text"] ?? "").isEmpty == false)
        }
        #expect(results.compactMap { $0["ruleId"] as? String } == ["abandoned", "log-among-documents"])
        let addresses = results.compactMap { result in
            let locations = result["locations"] as? [[String: [String: [String: String]]]]
            return locations?.first?["physicalLocation"]?["artifactLocation"]?["uri"]
        }
        #expect(
            addresses == [
                "Library/Caches/PrefetchCache/junk", "Documents/a%3A%20b/%C3%BC%25%FF.log",
            ])
    }

    @Test func theLogOfACleanContainerHasNoResults() throws {
        try fill()
        let run = try sarifRun(try container.succeed("inventory", "--check", "--sarif"))
        #expect((run["results"] as? [Any])?.isEmpty == true)
        let invocations = try #require(run["invocations"] as? [[String: Any]])
        try check(invocations, "invocation")
        #expect(invocations.first?["executionSuccessful"] as? Bool == true)
    }

    @Test func whatCannotBeReadIsInTheLogToo() throws {
        try fill()
        let ledger = "Library/Application Support/PrefetchCache/ledger.sqlite"
        try write(String(repeating: "7", count: 8192), to: ledger)
        let run = try sarifRun(try container.cachectl("inventory", "--check", "--sarif"))
        let invocations = try #require(run["invocations"] as? [[String: Any]])
        let notices = try #require(invocations.first?["toolExecutionNotifications"] as? [[String: Any]])
        #expect(notices.count == 1)
        try check(notices, "notification")
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
