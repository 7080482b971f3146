import Foundation
import Testing

@Suite struct PutTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    // MARK: Content

    @Test func aFileIsStoredAndReadBack() async throws {
        let file = try container.folder.write(text, to: "doc.txt")
        let outcome = try await container.succeed("put", "doc", file.path)
        #expect(outcome.text.wholeMatch(of: /stored doc: 204 KiB as \d+ KiB \(lz4\)\n/) != nil)
        #expect(try await container.succeed("cat", "doc").output == text)
        #expect(try Data(contentsOf: file) == text)
        let empty = try container.folder.write(Data(), to: "empty")
        #expect(try await container.succeed("put", "k", empty.path).text.hasPrefix("stored k: 0 B as "))
        #expect(try await container.succeed("cat", "k").output.isEmpty)
    }

    @Test func standardInputIsStoredAndReadBack() async throws {
        let content = text + noise(5 << 20, seed: 1)
        try await container.succeed("put", "../feed/1", "-", input: content)
        #expect(try await container.succeed("cat", "../feed/1").output == content)
        let destination = try await container.list().first?["destination"] as? [String: String]
        #expect(destination?["name"] == "_feed_1", "the key, made harmless")
    }

    @Test func aPipeWithOrWithoutANameIsStoredAndReadBack() throws {
        let outcome = try container.shell(
            #"""
            cachectl() { "$CACHECTL" "$@" --container "$CONTAINER"; }
            seq 1 300000 | cachectl put k - >/dev/null && cachectl cat k
            mkfifo p && { seq 1 9 > p & } && cachectl put l p >/dev/null && cachectl cat l
            """#)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.output == Data((Array(1...300_000) + Array(1...9)).map { "\($0)\n" }.joined().utf8))
    }

    /// The kernel says that such a file has 0 bytes.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mountinfo")))
    func aFileThatHidesItsLengthIsStoredWhole() async throws {
        try await container.succeed("put", "k", "/proc/cpuinfo")
        #expect(try await container.succeed("cat", "k").text.hasSuffix("\n\n"))
    }

    @Test func aFileOfAnyNameIsFoundAndItsNameIsMadeHarmless() async throws {
        for (given, name) in [
            ("~", "~"), ("~root", "~root"), ("a%41", "a%41"), ("a?b#c", "a?b#c"), (" space ", nil),
            ("new\nline", nil),
            ("caf\u{E9}", "caf\u{E9}"), ("cafe\u{301}", nil), (".hidden file", "hidden file"),
            ("back\\slash", "back_slash"),
        ] {
            let file = try container.folder.write(Data(given.utf8), to: given)
            try await container.succeed("put", given, file.path)
            #expect(try await container.succeed("cat", given).text == given)
            let destination = try await container.json("show", given)["destination"] as? [String: String]
            if let name { #expect(destination?["name"] == name) }
        }
    }

    // MARK: What the item is

    @Test func anItemWithoutADestinationIsOnlyRead() async throws {
        try await container.succeed("put", "tile", "-", "--to", "none", input: text)
        let item = try #require(await container.list().first)
        #expect(item["destination"] == nil)
        #expect(try await container.succeed("list").text.contains(" none "))
        #expect(try await !container.succeed("show", "tile").text.contains("destination"))
        #expect(try await container.succeed("cat", "tile").output == text)
        let opened = try await container.cachectl("open", "tile")
        #expect(opened.status == 64 && opened.errors.contains("read it"))
    }

    @Test func theOptionsReachTheItemAndTheOpenedFile() async throws {
        try await container.succeed(
            "put", "k", "-", "--to", "documents", "--folder", "Podcasts/Daily", "--name", "n.txt", "--source",
            "feed", input: text)
        let item = try #require(await container.list().first)
        let destination = [
            "area": "documents", "folder": "Podcasts/Daily", "name": "n.txt", "backup": "exclude",
        ]
        #expect(item["source"] as? String == "feed")
        #expect(item["destination"] as? [String: String] == destination)
        #expect(try await container.json("show", "k")["destination"] as? [String: String] == destination)
        #expect(try await container.succeed("list").text.contains(" documents/Podcasts/Daily/n.txt "))
        let shown = try await container.succeed("show", "k").text
        #expect(shown.contains("destination  documents/Podcasts/Daily/n.txt\n"))

        let path = container.root.appending(path: "Documents/Podcasts/Daily/n.txt").path
        #expect(try await container.succeed("open", "k").text == path + "\n")
        for command in ["open", "show"] {
            let object = try await container.json(command, "k")
            #expect(object["folder"] as? String == "Podcasts/Daily" && object["name"] as? String == "n.txt")
        }
        #expect(try await container.succeed("show", "k").text.contains("folder     Podcasts/Daily\n"))
    }

    @Test(arguments: ["", "/", "../x", "a/..", "/tmp", "a//b", ".hidden", "1/2/3/4/5/6/7/8/9"])
    func whatIsNoFolderIsWrongUsage(_ folder: String) async throws {
        let outcome = try await container.cachectl("put", "k", "-", "--folder", folder, input: text)
        #expect(outcome.status == 64 && outcome.errors.contains("folder"))
        #expect(try await container.list().isEmpty)
    }

    // MARK: What the user asked for

    @Test(arguments: ["-", "file"])
    func whatTheUserAskedForGoesStraightToItsDestination(_ input: String) async throws {
        let content = text + noise(5 << 20, seed: 1)
        let file = try container.folder.write(content, to: "file").path
        let line = try await container.succeed(
            "put", "k", input == "-" ? "-" : file, "--requested", "--to", "documents", "--name", "A name.txt",
            input: content
        ).text
        #expect(line == container.root.appending(path: "Documents/A name.txt").path + "\n")
        #expect(try Data(contentsOf: container.root.appending(path: "Documents/A name.txt")) == content)
        #expect(try await container.list().isEmpty)
        #expect(try await container.succeed("open", "k").text == line)
        #expect(try await container.succeed("cat", "k").output == content)
        let statistics = try await container.json("stats")
        #expect(statistics["promotions"] as? Int == 1 && statistics["stores"] as? Int == 0)
        for option in [[], ["--requested"]] {
            let again = try await container.cachectl(["put", "k", "-"] + option, input: text)
            #expect(again.status == 75 && again.errors.contains("alreadyPromoted"))
            #expect(again.errors.contains("'cachectl open' names the file"))
        }
        #expect(try await container.succeed("cat", "k").output == content)
    }

    @Test(arguments: [Container.elevated, #"{"storing":false}"#, #"{"budgetBytes":0}"#])
    func whatRefusesAGuessDoesNotRefuseTheUser(_ configuration: String) async throws {
        try await container.configure(configuration)
        #expect(try await container.cachectl("put", "guess", "-", input: text).status == 75)
        try await container.succeed("put", "k", "-", "--requested", input: text)
        #expect(try await container.succeed("cat", "k").output == text)
    }

    // MARK: Refusals

    @Test func anItemBeyondTheBudgetIsRefusedWithItsReason() async throws {
        let content = noise(3 << 20, seed: 1)
        let file = try container.folder.write(content, to: "noise").path
        try await container.succeed("configure", "--budget", "1MiB")
        for input in ["-", file] {
            let outcome = try await container.cachectl("put", "k", input, input: content)
            #expect(outcome.status == 75 && outcome.output.isEmpty)
            #expect(outcome.errors.hasPrefix("cachectl: error: 'k' was refused (largerThanLargestItem): "))
            #expect(outcome.errors.contains("configure --budget"))
        }
        let told = try await container.cachectl("put", "k", "-", "--json", input: content)
        #expect(told.status == 75)
        #expect(try Set(told.object.keys) == ["refused", "message", "schemaVersion"])
        #expect(try told.object["refused"] as? String == "largerThanLargestItem")
        let failure = try told.failure
        #expect(failure.error == "refused" && failure.exitCode == 75)
        #expect(failure.message.contains("configure --budget"))
        #expect(
            try await container.json("stats")["refusals"] as? [String: Int] == ["largerThanLargestItem": 3])
        #expect(try await container.list().isEmpty)
    }

    @Test(arguments: [
        ("elevated", Container.elevated), ("low", Container.low), ("critical", Container.critical),
    ])
    func aShortVolumeRefusesWithItsLevel(_ level: String, _ configuration: String) async throws {
        try await container.configure(configuration)
        let file = try container.folder.write(text, to: "file").path
        for input in ["-", file] {
            let outcome = try await container.cachectl("put", "k", input, input: text)
            #expect(outcome.status == 75 && outcome.output.isEmpty)
            #expect(outcome.errors.contains("refused (pressure): the volume is short of space (\(level)); "))
            #expect(outcome.errors.contains("'cachectl capacity'"))
        }
        #expect(try await container.json("stats")["refusals"] as? [String: Int] == ["pressure": 2])
    }

    @Test func aCacheWithoutABudgetRefusesWithItsFigures() async throws {
        try await container.succeed("configure", "--budget", "0")
        let outcome = try await container.cachectl("put", "k", "-", input: text)
        #expect(outcome.status == 75)
        #expect(outcome.errors.contains("refused (overBudget): "))
        let figures =
            "the budget of 0 bytes in addition to the catalog and what may not be evicted; 'cachectl capacity' shows"
        #expect(outcome.errors.contains(figures))
    }

    @Test func itemsOfAHigherPriorityDoNotMakeWay() async throws {
        try await container.succeed("configure", "--budget", "1MiB")
        for number in 0..<2 {
            let content = noise(450_000, seed: UInt64(number))
            try await container.succeed("put", "high-\(number)", "-", "--priority", "1", input: content)
        }
        let outcome = try await container.cachectl("put", "k", "-", "--json", input: noise(200_000, seed: 2))
        #expect(outcome.status == 75)
        #expect(try outcome.object["refused"] as? String == "lowPriority")
        #expect(outcome.errors.contains("'k' was refused (lowPriority): "))
        #expect(outcome.errors.contains("--priority"))
        #expect(try await container.succeed("stats").text.contains("1 lowPriority"))
        try await container.succeed("put", "k", "-", "--priority", "1", input: noise(200_000, seed: 2))
    }
}
