import Foundation
import Testing

@Suite struct EnvironmentTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func whatIsNoFileOrFolderIsNamed() async throws {
        let file = try container.folder.write(text, to: "file").path
        for path in [container.folder.file("nowhere").path, file + "/below"] {
            let outcome = try await container.cachectl("put", "k", path)
            #expect(outcome.status == 66)
            #expect(outcome.errors.hasPrefix("cachectl: error: cannot read \(path): "))
        }
        for path in [file, file + "/below"] {
            #expect(try await Tool.run(["list", "--container", path], in: container.folder).status == 73)
        }
        #expect(try Data(contentsOf: URL(filePath: file)) == text)
    }

    // MARK: Apps

    @Test func anAppIsFoundInTheUsersFolders() throws {
        let outcome = try container.shell(
            #"""
            cd; echo content >doc.txt; export XDG_CACHE_HOME="$PWD/cache"
            "$CACHECTL" put k "$PWD/doc.txt" --app org.example.app --quiet; "$CACHECTL" list --json --app org.example.app
            HOME= XDG_CACHE_HOME= "$CACHECTL" list --app org.example.app
            """#)
        let object = try outcome.object
        let path = try #require((object["items"] as? [[String: Any]])?.first?["path"] as? String)
        let area = "Library/Caches/"
        #expect(path.hasPrefix(area + "PrefetchCache/items/"))
        let file = container.folder.file("cache/org.example.app/\(path.dropFirst(area.count))")
        #expect(FileManager.default.fileExists(atPath: file.path))
        #expect(outcome.status == 78 && outcome.errors.contains("HOME"))
    }

    @Test func whatBackupsExcludeGoesToTheFolderOfTheAppWhoseContainerItIs() async throws {
        let file = try container.folder.write(text, to: "doc.txt").path
        try await container.succeed("put", "k", file, "--to", "documents", "--app", "org.example.app")
        try await container.succeed("open", "k", "--app", "org.example.app")
        let folder = container.root.appending(path: "Documents/org.example.app")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == ["CACHEDIR.TAG", "doc.txt"])
    }

    // MARK: Streams

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func aStreamThatFailsIsAnError() throws {
        for line in [
            #""$CACHECTL" list --container "$CONTAINER" >/dev/full"#, #""$CACHECTL" --help >/dev/full"#,
            #""$CACHECTL" put k - --container "$CONTAINER" <&-"#,
            #""$CACHECTL" put k - --container "$CONTAINER" </"#,
        ] {
            let outcome = try container.shell(line)
            #expect(outcome.status == 74, "\(line)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(line)")
        }
    }

    @Test func aClosedStreamTakesNoDatabaseWithIt() async throws {
        try await container.succeed("put", "k", "-", input: text)
        let outcome = try container.shell(#""$CACHECTL" cat k --container "$CONTAINER" >&- 2>&-"#)
        #expect(outcome.status == 74)
        #expect(try await container.list().count == 1)
        #expect(try await container.succeed("cat", "k").output == text)
    }
}
