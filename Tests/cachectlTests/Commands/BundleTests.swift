import Foundation
import HTTPTestServer
import Testing

/// Several files as one item, on the command line.
@Suite struct BundleTests {
    let container: Container
    private static let picture = noise(3_000_000, seed: 4)

    init() throws {
        container = try Container()
        for folder in ["guide/images", "empty", "odd"] {
            try FileManager.default.createDirectory(
                at: container.folder.file(folder), withIntermediateDirectories: true)
        }
        try container.folder.write(text, to: "guide/index.html")
        try container.folder.write(Self.picture, to: "guide/images/cover.png")
    }

    private func path(_ name: String) -> String { container.folder.file(name).path }

    @Test func aFolderIsStoredShownReadAndOpened() async throws {
        let stored = try await container.succeed("put", "guide", path("guide"), "--to", "documents").text
        #expect(stored.hasPrefix("stored guide: 3.1 MiB as 3.1 MiB (identity)"))
        #expect(
            try await container.succeed("cat", "guide", "--file", "images/cover.png").output == Self.picture)
        #expect(try await container.succeed("cat", "guide").output == Self.picture + text)
        let opened = try await container.succeed("open", "guide").text
        #expect(opened.hasSuffix("/Documents/guide\n"))
        let folder = URL(filePath: String(opened.dropLast()))
        #expect(try Data(contentsOf: folder.appending(path: "images/cover.png")) == Self.picture)
        #expect(try Data(contentsOf: folder.appending(path: "index.html")) == text)
        #expect(try await container.succeed("cat", "guide", "--file", "index.html").output == text)
        #expect(try await container.succeed("verify").text.hasPrefix("verified  0 items, 1 opened file"))
        try await container.succeed("forget", "guide", "--delete-file")
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func itsFilesAreListed() async throws {
        try await container.succeed("put", "guide", path("guide"))
        for status in ["cached", "promoted"] {
            if status == "promoted" { try await container.succeed("open", "guide") }
            let shown = try await container.succeed("show", "guide").text.split(separator: "\n").suffix(2)
            #expect(shown.map { $0.split(separator: " ").first } == ["images/cover.png", "index.html"])
            let record = try await container.succeed("show", "guide", "--json").output
            let object = try #require(try JSONSerialization.jsonObject(with: record) as? [String: Any])
            let files = try #require(object["files"] as? [[String: Any]])
            #expect(files.map { $0["path"] as? String } == ["images/cover.png", "index.html"])
            #expect(files.map { $0["contentBytes"] as? Int } == [3_000_000, text.count])
        }
        let folder = String(try await container.succeed("open", "guide").text.dropLast())
        let shown = try await container.succeed("show", "guide", "--json").output
        for path in ["Library/Application Support/PrefetchCache/files/guide", folder, folder + "/"] {
            #expect(try await container.succeed("show", path, "--json").output == shown, "\(path)")
        }
    }

    @Test func whatCannotBeABundleIsSaid() async throws {
        let empty = try await container.cachectl("put", "k", path("empty"))
        #expect(empty.status == 64 && empty.errors.contains("a bundle needs at least one file"))
        try container.folder.write(text, to: "odd/.hidden")
        let hidden = try await container.cachectl("put", "k", path("odd"))
        #expect(hidden.status == 64 && hidden.errors.contains(".hidden cannot be part of a bundle"))
        let nowhere = try await container.cachectl("put", "k", path("guide"), "--to", "none")
        #expect(nowhere.status == 64 && nowhere.errors.contains("a bundle needs a destination"))
        try await container.succeed("put", "guide", path("guide"))
        let missing = try await container.cachectl("cat", "guide", "--file", "nothing.html")
        #expect(missing.status == 66 && missing.errors.contains("with a file 'nothing.html'"))
    }

    @Test func severalURLsAreFetchedAsOneItem() async throws {
        let server = try HTTPTestServer { request in
            request.target == "/index.html"
                ? TestResource(text).answer(to: request) : TestResource(Self.picture).answer(to: request)
        }
        let list = "\(server.url("/index.html"))\n\(server.url("/42.png"))\timages/cover.png\n"
        try container.folder.write(Data(list.utf8), to: "list")
        try await container.succeed(
            "fetch", "--bundle", "guide", "--from-file", path("list"), "--to", "documents")
        #expect(
            try await container.succeed("cat", "guide", "--file", "images/cover.png").output == Self.picture)
        let opened = try await container.succeed("open", "guide").text
        let folder = URL(filePath: String(opened.dropLast()))
        #expect(try Data(contentsOf: folder.appending(path: "index.html")) == text)

        let twice = try await container.cachectl(
            "fetch", "--bundle", "k", "\(server.url("/a"))", "\(server.url("/a"))")
        #expect(twice.status == 64 && twice.errors.contains("conflicts with that of another file"))
    }
}
