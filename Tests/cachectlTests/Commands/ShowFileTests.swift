import Foundation
import PrefetchFileSystem
import StorageInventory
import SystemPackage
import Testing

@testable import cachectl

/// What `show` tells of a file.
@Suite struct ShowFileTests {
    let container: Container

    init() throws {
        container = try Container()
        for key in ["first", "https://media.example.org/42.mp3", "last"] {
            try container.succeed("put", key, "-", "--source", "feed", input: text + Data(key.utf8))
        }
        for (key, backup) in [("film", "include"), ("map", "exclude")] {
            try container.succeed(
                "put", key, "-", "--to", "documents", "--folder", "Opened", "--name", "\(key).txt",
                "--backup",
                backup, input: text + Data(key.utf8))
            try container.succeed("open", key)
        }
    }

    /// The parts of a story.
    private func story(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws
        -> [String: String]
    {
        let outcome = try Tool.run(
            Tool.path, ["show"] + arguments + ["--json", "--container", container.root.path],
            in: container.folder)
        #expect(outcome.status == 0, "\(outcome.errors)", sourceLocation: sourceLocation)
        let object = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
        #expect(object?["schemaVersion"] as? Int == 1, sourceLocation: sourceLocation)
        return try #require(object?["story"] as? [String: String], sourceLocation: sourceLocation)
    }

    /// The path of a cached item's file.
    private func item(_ key: String) throws -> String {
        try #require(container.json("show", key)["path"] as? String)
    }

    /// With a manifest, the file of a key is shown.
    private func path(ofKey key: String) throws -> String? {
        let manifest = try container.folder.write(
            Data(#"{"version": 1, "entries": []}"#.utf8), to: "storage.json")
        return try path(key, "--manifest", manifest.path)
    }

    private func path(_ arguments: String...) throws -> String? {
        let outcome = try Tool.run(
            Tool.path, ["show"] + arguments + ["--json", "--container", container.root.path],
            in: container.folder)
        let object = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any]
        return (object?["file"] as? [String: Any])?["path"] as? String
    }

    // MARK: What it tells

    @Test func theStoryOfACachedItem() throws {
        let story = try story(item("first"))
        #expect(
            story["what"]?.hasPrefix("It is a cached item, with the key 'first': the app stored it") == true)
        #expect(story["from"]?.hasPrefix("It came from feed. It was stored at 20") == true)
        #expect(story["wanted"] == "The app expected that the user would want it.")
        let caches = "the folder Library/Caches has a CACHEDIR.TAG"
        #expect(
            story["backup"] == "It is not backed up: the system never backs up Caches, and \(caches).")
        #expect(story["space"]?.contains("The system may delete it when space runs short") == true)
        #expect(story["space"]?.contains("It goes next, once more than ") == true)
        #expect(story["offload"]?.hasPrefix("It may go") == true)
        #expect(story["restore"] == "It is gone: to the app it is a miss, and is downloaded again.")
        let last = try self.story(item("last"))
        #expect(last["space"]?.contains("2 files (") == true)
    }

    @Test func theStoryOfAnOpenedFile() throws {
        let story = try story("Documents/Opened/film.txt")
        #expect(story["what"]?.hasPrefix("It is the file of an opened item, with the key 'film'.") == true)
        #expect(story["from"]?.contains("It was opened at 20") == true)
        #expect(story["wanted"] == "The user opened it.")
        #expect(story["backup"]?.hasPrefix("It is backed up") == true)
        #expect(
            story["space"] == "The system does not delete it. The cache does not delete it: it is the user's."
        )
        #expect(story["offload"] == "It stays: offloading keeps an app's documents and data.")
        #expect(story["restore"] == "It comes back from the backup.")
    }

    @Test func theStoryOfAnExcludedFile() throws {
        let story = try story("Documents/Opened/map.txt")
        #expect(story["backup"]?.contains("it has the no-dump flag itself") == true)
        #expect(story["space"]?.contains("cachectl purge --excluded") == true)
        #expect(story["restore"]?.contains("its record comes back, the file does not") == true)
    }

    @Test func aMarkIsNamedWithTheFolderThatHasIt() throws {
        try container.write("x", to: "Library/Application Support/Tiles/deep/1")
        let folder = FilePath(container.root.appending(path: "Library/Application Support/Tiles").path)
        let live = LiveFileSystem()
        try live.withFile(folder, in: .workingDirectory, .directory) { file throws(FileSystemError) in
            try live.setExtendedAttribute("user.xdg.robots.backup", to: Array("false".utf8), of: file)
        }
        let story = try story("Library/Application Support/Tiles/deep/1")
        #expect(
            story["backup"]
                == "It is not backed up: the folder Library/Application Support/Tiles has the mark "
                + "user.xdg.robots.backup.")
    }

    @Test func anAdoptedFileWasThereBefore() throws {
        try container.write(String(decoding: text, as: UTF8.self), to: "Documents/mine.txt")
        try container.succeed("put", "mine", "-", "--to", "documents", "--name", "mine.txt", input: text)
        try container.succeed("open", "mine")
        #expect(
            try story("Documents/mine.txt")["from"]?.hasPrefix("It was there before the item was opened at ")
                == true)
    }

    @Test(arguments: [
        ("\"download\"", "It is gone, and has to be downloaded again."),
        ("\"derive\"", "It is gone, and is made again from other data."),
        // Which belongs elsewhere.
        ("false", "It is lost: the manifest says that it cannot be had again."),
    ])
    func theManifestSaysWhatAFileIsFor(_ regenerable: String, _ restore: String) throws {
        try container.write("x", to: "Library/Caches/com.example.sdk/queue")
        let manifest = try container.folder.write(
            Data(
                """
                {"version": 1, "entries": [{"path": "Library/Caches/com.example.sdk/**", "what": "Unsent events",
                 "why": "They are sent later.", "area": "\(regenerable == "false" ? "support" : "caches")", "backup": "system",
                 "regenerable": \(regenerable), "owner": "com.example.sdk"}]}
                """.utf8), to: "storage.json")
        let story = try story("Library/Caches/com.example.sdk/queue", "--manifest", manifest.path)
        #expect(story["what"]?.hasSuffix("The manifest calls it: Unsent events.") == true)
        #expect(story["wanted"] == "com.example.sdk stores it: They are sent later.")
        #expect(story["restore"] == restore)
        let other = try self.story("film", "--manifest", manifest.path)
        #expect(other["what"]?.hasSuffix("No entry of the manifest explains it.") == true)
        let item = try self.story("first", "--manifest", manifest.path)
        #expect(item["what"]?.contains("manifest") == false)
    }

    @Test func aFileOfNobodySaysSo() throws {
        try container.write("x", to: "Library/Caches/x")
        let story = try story("Library/Caches/x")
        #expect(story["from"]?.hasPrefix("Nothing is recorded of where it came from.") == true)
        #expect(story["wanted"] == "Nothing says who wanted it.")
        #expect(story["restore"] == "It is gone: whoever stored it has to do so again.")
    }

    @Test func anAttributeSaysWhereAFileWasDownloadedFrom() throws {
        try container.write("x", to: "Documents/Lecture.mp4")
        let path = FilePath(container.root.appending(path: "Documents/Lecture.mp4").path)
        let address = "https://user:secret@media.example.org/42.mp4?token=secret#t=1"
        let live = LiveFileSystem()
        try live.withFile(path, in: .workingDirectory, .read) { file throws(FileSystemError) in
            try live.setExtendedAttribute("user.xdg.origin.url", to: Array(address.utf8), of: file)
        }
        let told = "An attribute says that it was downloaded from https://media.example.org/42.mp4."
        #expect(try story("Documents/Lecture.mp4")["from"]?.hasPrefix(told + " It was last changed") == true)
    }

    @Test func aTextHasALinePerPart() throws {
        let lines = try container.succeed("show", "Documents/Opened/film.txt").text.split(separator: "\n")
            .map(String.init)
        #expect(lines.first == "path     Documents/Opened/film.txt")
        let names = lines.dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(names == ["what", "from", "wanted", "backup", "space", "offload", "restore"])
    }

    // MARK: How it is found

    @Test func aFileIsFoundByItsPathAndByItsKey() throws {
        let path = "Documents/Opened/film.txt"
        for name in [path, "./\(path)", container.root.path + "/" + path, "container/" + path] {
            #expect(try self.path(name) == path, "\(name)")
        }
        #expect(try self.path(ofKey: "film") == path)
        #expect(try self.path(ofKey: "https://media.example.org/42.mp3")?.contains("/items/") == true)
    }

    @Test func aPathIsFoundThroughLinks() throws {
        try FileManager.default.createSymbolicLink(
            atPath: container.folder.url.appending(path: "link").path,
            withDestinationPath: container.root.path)
        #expect(try path("link/Documents/Opened/map.txt") == "Documents/Opened/map.txt")
    }

    @Test func aKeyOfAFileThatSeveralKeysShareIsFound() throws {
        for key in ["one", "two"] {
            try container.succeed("put", key, "-", "--to", "documents", "--name", "shared.txt", input: text)
            try container.succeed("open", key)
        }
        for key in ["one", "two"] { #expect(try path(ofKey: key) == "Documents/shared.txt") }
    }

    @Test func theAreasOfAnAppHaveThePathsOfAContainerToo() throws {
        let home = container.folder.url
        let file = home.appending(path: ".local/share/org.example.app/state.json")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: file)
        for name in ["Library/Application Support/state.json", file.path] {
            let outcome = try Tool.run(
                Tool.path, ["show", name, "--app", "org.example.app"], in: container.folder)
            #expect(outcome.status == 0, "\(name)")
            #expect(outcome.text.hasPrefix("path     Library/Application Support/state.json\n"))
            #expect(outcome.text.contains("Nothing offloads apps here"))
        }
    }

    @Test func whatIsNotThereIsAClearError() throws {
        for path in ["Documents/Opened", "container/Documents/Opened", container.root.path] {
            let folder = try container.cachectl("show", path)
            #expect(folder.status == 66)
            #expect(folder.errors.contains("\(path) is a folder"))
        }
        try FileManager.default.removeItem(at: container.root.appending(path: "Documents/Opened/film.txt"))
        let moved = try container.cachectl("show", "Documents/Opened/film.txt")
        #expect(moved.status == 66)
        #expect(moved.errors.contains("its file has been moved or deleted"))
    }

    @Test func anyBytesCanBeAPath() throws {
        #expect(try container.shell(#"touch "$CONTAINER/Documents/$(printf 'a\377b')""#).status == 0)
        let outcome = try container.shell(
            #""$CACHECTL" show "Documents/$(printf 'a\377b')" --container "$CONTAINER""#)
        #expect(outcome.status == 0)
        #expect(outcome.text.hasPrefix(#"path     Documents/a\xFFb"#))
    }

    /// As reading it would be, which the cache must not take for a use.
    @Test func askingIsNoUseAndChangesNothing() throws {
        let before = try container.list().compactMap { $0["key"] as? String }
        for path in [try item("first"), "Documents/Opened/film.txt"] { try container.succeed("show", path) }
        #expect(try container.list().compactMap { $0["key"] as? String } == before)
        let container = try Container(hasCache: false)
        try container.write("x", to: "Documents/x")
        try container.succeed("show", "Documents/x")
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.root.path) == ["Documents"])
    }
}
