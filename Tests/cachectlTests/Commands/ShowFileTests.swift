import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import cachectl

/// What `show` tells of a file beside the stories in `Golden`.
@Suite struct ShowFileTests {
    private let container: Container

    init() throws {
        container = try Container()
    }

    private func mark(_ path: String, _ name: String, _ value: String) throws {
        let live = LiveFileSystem()
        let path = FilePath(container.root.appending(path: path).path)
        try live.withFile(path, in: .workingDirectory, .read) { file throws(FileSystemError) in
            try live.setExtendedAttribute(name, to: Array(value.utf8), of: file)
        }
    }

    @Test func marksAndOriginsAreRead() async throws {
        try container.write("x", to: "Library/Application Support/Tiles/deep/1")
        try mark("Library/Application Support/Tiles", "user.xdg.robots.backup", "false")
        let tile = try await container.succeed("show", "Library/Application Support/Tiles/deep/1").text
        let folder = "the folder Library/Application Support/Tiles has the mark user.xdg.robots.backup."
        #expect(tile.contains("It is not backed up: \(folder)\n"))
        try container.write("x", to: "Documents/Lecture.mp4")
        let address = "https://user:secret@media.example.org/42.mp4?token=secret#t=1"
        try mark("Documents/Lecture.mp4", "user.xdg.origin.url", address)
        let lecture = try await container.succeed("show", "Documents/Lecture.mp4").text
        #expect(lecture.contains("was downloaded from https://media.example.org/42.mp4. It was last changed"))
    }

    @Test func aPathIsFoundFromTheWorkingDirectoryAndMayHaveAnyBytes() async throws {
        let outcome = try container.shell(
            #"""
            mkdir "$CONTAINER/Documents"; touch "$CONTAINER/Documents/$(printf 'a\377b')"; "$CACHECTL" show container/Documents/a* --container container
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
}
