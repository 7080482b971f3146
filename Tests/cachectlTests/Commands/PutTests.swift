import Foundation
import Testing

@Suite struct PutTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func aFileIsStoredAndReadBack() throws {
        let file = try container.folder.write(text, to: "doc.txt")
        let outcome = try container.succeed("put", "doc", file.path)
        #expect(outcome.text.wholeMatch(of: /stored doc: 204 KiB as \d+ KiB \(lz4\)\n/) != nil)
        #expect(try container.succeed("cat", "doc").output == text)
        #expect(try Data(contentsOf: file) == text)
    }

    @Test func standardInputIsStoredAndReadBack() throws {
        let content = text + noise(5 << 20, seed: 1)
        try container.succeed("put", "piped", "-", input: content)
        #expect(try container.succeed("cat", "piped").output == content)
    }

    @Test func aPipeIsStoredAndReadBack() throws {
        let outcome = try container.shell(
            #"seq 1 300000 | "$CACHECTL" put k - --container "$CONTAINER" >/dev/null && "#
                + #""$CACHECTL" cat k --container "$CONTAINER""#)
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        #expect(outcome.output == Data((1...300_000).map { "\($0)\n" }.joined().utf8))
    }

    @Test func aNamedPipeIsStoredAndReadBack() throws {
        let outcome = try container.shell(
            #"mkfifo p && { seq 1 9 > p & } && "$CACHECTL" put k p --container "$CONTAINER" >out && "#
                + #""$CACHECTL" cat k --container "$CONTAINER""#)
        #expect(outcome.status == 0)
        #expect(outcome.text == (1...9).map { "\($0)\n" }.joined())
    }

    /// The kernel says that such a file has 0 bytes.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mountinfo")))
    func aFileThatHidesItsLengthIsStoredWhole() throws {
        try container.succeed("put", "k", "/proc/cpuinfo")
        let content = try container.succeed("cat", "k").text
        #expect(content.contains("\n"))
        #expect(content.hasSuffix("\n\n"))
    }

    @Test(arguments: ["~", "~root", "a%41", "a?b#c", " space ", "new\nline", "caf\u{E9}", "cafe\u{301}"])
    func aFileOfAnyNameIsFound(_ name: String) throws {
        try container.folder.write(Data(name.utf8), to: name)
        try container.succeed("put", "k", name)
        #expect(try container.succeed("cat", "k").text == name)
    }

    @Test func anEmptyFileIsAnItem() throws {
        let file = try container.folder.write(Data(), to: "empty")
        let outcome = try container.succeed("put", "k", file.path)
        #expect(outcome.text.hasPrefix("stored k: 0 B as "))
        #expect(try container.succeed("cat", "k").output.isEmpty)
    }

    @Test func jsonTellsWhatWasStored() throws {
        let file = try container.folder.write(text, to: "doc.txt")
        let object = try container.json("put", "doc", file.path)
        #expect(Set(object.keys) == ["key", "encoding", "contentBytes", "storedBytes", "schemaVersion"])
        #expect(object["key"] as? String == "doc")
        #expect(object["encoding"] as? String == "lz4")
        #expect(object["contentBytes"] as? Int == text.count)
    }

    @Test(arguments: [("lz4", "lz4"), ("identity", "identity"), ("automatic", "lz4")])
    func theEncodingCanBeForced(_ choice: String, _ encoding: String) throws {
        let file = try container.folder.write(text, to: "doc.txt")
        #expect(
            try container.json("put", "doc", file.path, "--encoding", choice)["encoding"] as? String
                == encoding)
    }

    @Test func theOptionsReachTheItem() throws {
        let file = try container.folder.write(text, to: "doc.txt")
        try container.succeed(
            "put", "k", file.path, "--to", "documents", "--name", "A name.txt", "--source", "feed",
            "--backup", "exclude")
        let item = try #require(try container.list().first)
        #expect(item["source"] as? String == "feed")
        #expect(
            item["destination"] as? [String: String] == [
                "area": "documents", "name": "A name.txt", "backup": "exclude",
            ])
    }

    @Test func anItemWithoutADestinationIsOnlyRead() throws {
        try container.succeed("put", "tile", "-", "--to", "none", input: text)
        let item = try #require(try container.list().first)
        #expect(item["destination"] == nil)
        #expect(try container.succeed("list").text.contains(" none "))
        #expect(try !container.succeed("show", "tile").text.contains("destination"))
        #expect(try container.succeed("cat", "tile").output == text)
        let opened = try container.cachectl("open", "tile")
        #expect(opened.status == 64 && opened.errors.contains("read it"))
        let requested = try container.cachectl("put", "k", "-", "--to", "none", "--requested", input: text)
        #expect(requested.status == 64 && requested.errors.contains("--to none"))
    }

    @Test func theFolderIsThatOfTheOpenedFile() throws {
        try container.succeed(
            "put", "k", "-", "--to", "documents", "--folder", "Podcasts/Daily", "--name", "n.txt", input: text
        )
        let item = try #require(try container.list().first)
        let destination = [
            "area": "documents", "folder": "Podcasts/Daily", "name": "n.txt", "backup": "exclude",
        ]
        #expect(item["destination"] as? [String: String] == destination)
        #expect(try container.json("show", "k")["destination"] as? [String: String] == destination)
        #expect(try container.succeed("list").text.contains(" documents/Podcasts/Daily/n.txt "))
        #expect(
            try container.succeed("show", "k").text
                .contains("destination  documents/Podcasts/Daily/n.txt\n"))

        let path = container.root.appending(path: "Documents/Podcasts/Daily/n.txt").path
        #expect(try container.succeed("open", "k").text == path + "\n")
        let object = try container.json("show", "k")
        #expect(object["folder"] as? String == "Podcasts/Daily")
        #expect(object["name"] as? String == "n.txt")
        #expect(try container.json("open", "k")["folder"] as? String == "Podcasts/Daily")
        #expect(try container.succeed("show", "k").text.contains("folder     Podcasts/Daily\n"))
    }

    @Test(arguments: ["", "/", "../x", "a/..", "/tmp", "a//b", ".hidden", "1/2/3/4/5/6/7/8/9"])
    func whatIsNoFolderIsWrongUsage(_ folder: String) throws {
        let outcome = try container.cachectl("put", "k", "-", "--folder", folder, input: text)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("folder"))
        #expect(try container.list().isEmpty)
    }

    @Test(arguments: [
        (".hidden file", "hidden file"), ("back\\slash", "back_slash"), ("caf\u{E9}", "caf\u{E9}"),
    ])
    func theNameIsThatOfTheFileMadeHarmless(_ given: String, _ name: String) throws {
        let file = try container.folder.write(text, to: given)
        try container.succeed("put", "k", file.path)
        let destination = try #require(try container.list().first?["destination"] as? [String: String])
        #expect(destination["name"] == name)
    }

    @Test func theNameOfStandardInputIsTheKeyMadeHarmless() throws {
        try container.succeed("put", "../feed/1", "-", input: text)
        let destination = try #require(try container.list().first?["destination"] as? [String: String])
        #expect(destination["name"] == "_feed_1")
    }
}
