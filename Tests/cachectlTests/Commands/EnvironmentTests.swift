import Foundation
import Testing

@Suite struct EnvironmentTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test(arguments: ["nowhere", "file/below"])
    func anInputThatIsNoFileIsNotFound(_ name: String) throws {
        try container.folder.write(text, to: "file")
        let outcome = try container.cachectl("put", "k", name)
        #expect(outcome.status == 66)
        #expect(outcome.errors.hasPrefix("cachectl: error: cannot read \(name): "))
    }

    @Test func aContainerThatIsAFileCannotBeUsed() throws {
        let file = try container.folder.write(text, to: "file")
        for path in [file.path, file.path + "/below"] {
            let outcome = try Tool.run(Tool.path, ["list", "--container", path], in: container.folder)
            #expect(outcome.status == 73)
        }
        #expect(try Data(contentsOf: file) == text)
    }

    @Test func aCacheThatOthersCanWriteToIsRefused() throws {
        try container.succeed("list")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777],
            ofItemAtPath: container.root.appending(path: "Library/Caches/PrefetchCache").path)
        let outcome = try container.cachectl("list")
        #expect(outcome.status == 77)
        #expect(outcome.errors.contains("permissions"))
    }

    @Test func anAppIsFoundInTheUsersFolders() throws {
        let home = ["XDG_CACHE_HOME": container.folder.url.path + "/cache"]
        let app = ["--app", "org.example.app"]
        let file = try container.folder.write(text, to: "doc.txt")
        let put = try Tool.run(
            Tool.path, ["put", "k", file.path] + app, environment: home, in: container.folder)
        #expect(put.status == 0)
        let list = try Tool.run(Tool.path, ["list", "--json"] + app, environment: home, in: container.folder)
        let object = try #require(JSONSerialization.jsonObject(with: list.output) as? [String: Any])
        let path = try #require((object["items"] as? [[String: Any]])?.first?["path"] as? String)
        let area = "Library/Caches/"
        #expect(path.hasPrefix(area + "PrefetchCache/items/"))
        #expect(
            FileManager.default.fileExists(
                atPath: container.folder.file("cache/org.example.app/\(path.dropFirst(area.count))").path))
    }

    @Test func whatBackupsExcludeGoesToTheFolderOfTheAppWhoseContainerItIs() throws {
        let file = try container.folder.write(text, to: "doc.txt")
        try container.succeed("put", "k", file.path, "--to", "documents", "--app", "org.example.app")
        try container.succeed("open", "k", "--app", "org.example.app")
        let folder = container.root.appending(path: "Documents/org.example.app")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == ["CACHEDIR.TAG", "doc.txt"])
    }

    @Test(arguments: [[], ["--container", "."]])
    func theIdentifierOfAnAppIsAFolderName(place: [String]) throws {
        let outcome = try Tool.run(Tool.path, ["list", "--app", "../x"] + place, in: container.folder)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("not a valid application id"))
    }

    @Test func withoutAHomeAnAppCannotBeFound() throws {
        let outcome = try Tool.run(
            Tool.path, ["list", "--app", "org.example.app"], environment: ["HOME": ""], in: container.folder)
        #expect(outcome.status == 78)
        #expect(outcome.errors.contains("HOME"))
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
        arguments: [
            #""$CACHECTL" list --container "$CONTAINER" >/dev/full"#,
            #""$CACHECTL" list --container "$CONTAINER" >&-"#,
            #""$CACHECTL" --help >/dev/full"#,
            #""$CACHECTL" put k - --container "$CONTAINER" <&-"#,
            #""$CACHECTL" put k - --container "$CONTAINER" </"#,
        ])
    func aStreamThatFailsIsAnError(_ line: String) throws {
        let outcome = try container.shell(line)
        #expect(outcome.status == 74)
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func aClosedStreamTakesNoDatabaseWithIt() throws {
        try container.succeed("put", "k", "-", input: text)
        let outcome = try container.shell(#""$CACHECTL" cat k --container "$CONTAINER" >&- 2>&-"#)
        #expect(outcome.status == 74)
        #expect(try container.list().count == 1)
        #expect(try container.succeed("cat", "k").output == text)
    }
}
