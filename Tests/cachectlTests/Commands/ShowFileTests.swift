import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import cachectl

/// What `show` tells of a file.
@Suite struct ShowFileTests {
    let container: Container

    init() async throws {
        container = try Container()
        for key in ["first", "https://media.example.org/42.mp3", "last"] {
            try await container.succeed("put", key, "-", "--source", "feed", input: text + Data(key.utf8))
        }
        for (key, backup) in [("film", "include"), ("map", "exclude")] {
            try await container.succeed(
                "put", key, "-", "--to", "documents", "--folder", "Opened", "--name", "\(key).txt",
                "--backup", backup, input: text + Data(key.utf8))
            try await container.succeed("open", key)
        }
    }

    /// Expects that parts of the story of a file begin with sentences, or have them after others.
    private func expect(
        _ story: [String: String], _ parts: KeyValuePairs<String, String>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (name, text) in parts {
            #expect(story[name]?.contains(text) == true, "\(name)", sourceLocation: sourceLocation)
        }
    }

    private func story(_ arguments: String...) async throws -> [String: String] {
        let outcome = try await container.cachectl(["show"] + arguments + ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try #require(outcome.object["story"] as? [String: String])
    }

    /// The path of a cached item's file.
    private func item(_ key: String) async throws -> String {
        try await #require(container.json("show", key)["path"] as? String)
    }

    private func path(_ arguments: String...) async throws -> String? {
        let object = try await container.cachectl(["show"] + arguments + ["--json"]).object
        return (object["file"] as? [String: Any])?["path"] as? String
    }

    private func mark(_ path: String, _ name: String, _ value: String) throws {
        let live = LiveFileSystem()
        let path = FilePath(container.root.appending(path: path).path)
        try live.withFile(path, in: .workingDirectory, .read) { file throws(FileSystemError) in
            try live.setExtendedAttribute(name, to: Array(value.utf8), of: file)
        }
    }

    // MARK: What it tells

    @Test func theStoryOfACachedItem() async throws {
        expect(
            try await story(item("first")),
            [
                "what": "It is a cached item, with the key 'first': the app stored it",
                "from": "It came from feed. It was stored at 20",
                "wanted": "The app expected that the user would want it.",
                "backup":
                    "It is not backed up: the system never backs up Caches, and the folder Library/Caches has a "
                    + "CACHEDIR.TAG.",
                "space": "The system may delete it when space runs short",
                "space": "It goes next, once more than ",
                "offload": "It may go",
                "restore": "It is gone: to the app it is a miss, and is downloaded again.",
            ])
        expect(try await story(item("last")), ["space": "2 files ("])
    }

    @Test func theStoriesOfOpenedFiles() async throws {
        expect(
            try await story("Documents/Opened/film.txt"),
            [
                "what": "It is the file of an opened item, with the key 'film'.",
                "from": "It was opened at 20", "wanted": "The user opened it.", "backup": "It is backed up",
                "space": "The system does not delete it. The cache does not delete it: it is the user's.",
                "offload": "It stays: offloading keeps an app's documents and data.",
                "restore": "It comes back from the backup.",
            ])
        expect(
            try await story("Documents/Opened/map.txt"),
            [
                "backup": "it has the no-dump flag itself", "space": "cachectl purge --excluded",
                "restore": "its record comes back, the file does not",
            ])
        try container.write(String(decoding: text, as: UTF8.self), to: "Documents/mine.txt")
        try await container.succeed(
            "put", "mine", "-", "--to", "documents", "--name", "mine.txt", input: text)
        try await container.succeed("open", "mine")
        expect(
            try await story("Documents/mine.txt"), ["from": "It was there before the item was opened at "])
    }

    @Test func theStoriesOfOtherFiles() async throws {
        try container.write("x", to: "Library/Caches/x")
        expect(
            try await story("Library/Caches/x"),
            [
                "from": "Nothing is recorded of where it came from.", "wanted": "Nothing says who wanted it.",
                "restore": "It is gone: whoever stored it has to do so again.",
            ])
        try container.write("x", to: "Library/Application Support/Tiles/deep/1")
        try mark("Library/Application Support/Tiles", "user.xdg.robots.backup", "false")
        expect(
            try await story("Library/Application Support/Tiles/deep/1"),
            [
                "backup": "It is not backed up: the folder Library/Application Support/Tiles has the mark "
                    + "user.xdg.robots.backup."
            ])
        try container.write("x", to: "Documents/Lecture.mp4")
        let address = "https://user:secret@media.example.org/42.mp4?token=secret#t=1"
        try mark("Documents/Lecture.mp4", "user.xdg.origin.url", address)
        expect(
            try await story("Documents/Lecture.mp4"),
            [
                "from":
                    "An attribute says that it was downloaded from https://media.example.org/42.mp4. It was last "
                    + "changed"
            ])
    }

    @Test(arguments: [
        ("\"download\"", "caches", "It is gone, and has to be downloaded again."),
        ("\"derive\"", "caches", "It is gone, and is made again from other data."),
        // Which belongs elsewhere.
        ("false", "support", "It is lost: the manifest says that it cannot be had again."),
    ])
    func theManifestSaysWhatAFileIsFor(_ regenerable: String, _ area: String, _ restore: String) async throws
    {
        try container.write("x", to: "Library/Caches/com.example.sdk/queue")
        let manifest = try container.folder.write(
            Data(
                """
                {"version": 1, "entries": [{"path": "Library/Caches/com.example.sdk/**", "what": "Unsent events",
                 "why": "They are sent later.", "area": "\(area)", "backup": "system", "regenerable": \(regenerable),
                 "owner": "com.example.sdk"}]}
                """.utf8), to: "storage.json"
        ).path
        expect(
            try await story("Library/Caches/com.example.sdk/queue", "--manifest", manifest),
            [
                "what": "The manifest calls it: Unsent events.",
                "wanted": "com.example.sdk stores it: They are sent later.", "restore": restore,
            ])
        expect(
            try await story("film", "--manifest", manifest), ["what": "No entry of the manifest explains it."]
        )
        #expect(try await story("first", "--manifest", manifest)["what"]?.contains("manifest") == false)
    }

    @Test func aTextHasALinePerPart() async throws {
        let lines = try await container.succeed("show", "Documents/Opened/film.txt").text.split(
            separator: "\n")
        let names = lines.compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(names == ["path", "what", "from", "wanted", "backup", "space", "offload", "restore"])
    }

    // MARK: How it is found

    @Test func aFileIsFoundByItsPathAndByItsKey() async throws {
        let path = "Documents/Opened/film.txt"
        try FileManager.default.createSymbolicLink(
            at: container.folder.file("link"), withDestinationURL: container.root)
        let link = container.folder.file("link").path
        for name in [path, "./\(path)", container.root.path + "/" + path, "\(link)/\(path)"] {
            #expect(try await self.path(name) == path, "\(name)")
        }
        let manifest = try container.folder.write(
            Data(#"{"version": 1, "entries": []}"#.utf8), to: "storage.json"
        ).path
        #expect(try await self.path("film", "--manifest", manifest) == path)
        let item = try await self.path("https://media.example.org/42.mp3", "--manifest", manifest)
        #expect(item?.contains("/items/") == true)
        for key in ["one", "two"] {
            try await container.succeed(
                "put", key, "-", "--to", "documents", "--name", "shared.txt", input: text)
            try await container.succeed("open", key)
            #expect(try await self.path(key, "--manifest", manifest) == "Documents/shared.txt")
        }
    }

    @Test func aPathIsFoundFromTheWorkingDirectoryAndMayHaveAnyBytes() async throws {
        let outcome = try container.shell(
            #"""
            touch "$CONTAINER/Documents/$(printf 'a\377b')"; "$CACHECTL" show container/Documents/a* --container container
            """#)
        #expect(outcome.status == 0)
        #expect(outcome.text.hasPrefix(#"path     Documents/a\xFFb"#))
    }

    @Test func theAreasOfAnAppHaveThePathsOfAContainerToo() throws {
        try container.write("{}", to: "../.local/share/org.example.app/state.json")
        let file = container.folder.file(".local/share/org.example.app/state.json").path
        for name in ["Library/Application Support/state.json", file] {
            let outcome = try Tool.start(
                Tool.path, ["show", name, "--app", "org.example.app"], in: container.folder)
            #expect(outcome.status == 0, "\(name)")
            #expect(outcome.text.hasPrefix("path     Library/Application Support/state.json\n"))
            #expect(outcome.text.contains("Nothing offloads apps here"))
        }
    }

    @Test func whatIsNotThereIsAClearError() async throws {
        for path in ["Documents/Opened", container.root.path] {
            let folder = try await container.cachectl("show", path)
            #expect(folder.status == 66 && folder.errors.contains("\(path) is a folder"))
        }
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents/Opened/film.txt"))
        let moved = try await container.cachectl("show", "Documents/Opened/film.txt")
        #expect(moved.status == 66 && moved.errors.contains("its file has been moved or deleted"))
    }

    /// As reading it would be, which the cache must not take for a use.
    @Test func askingIsNoUseAndChangesNothing() async throws {
        let before = try await container.keys
        for path in [try await item("first"), "Documents/Opened/film.txt"] {
            try await container.succeed("show", path)
        }
        #expect(try await container.keys == before)
        let container = try Container(hasCache: false)
        try container.write("x", to: "Documents/x")
        try await container.succeed("show", "Documents/x")
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.root.path) == ["Documents"])
    }
}
