import Foundation
import Testing

@testable import cachectl

/// What the user gets has the permissions that any program's documents have; the rest is private.
@Suite struct OpenedFilePermissionTests {
    let container: Container

    init() throws {
        container = try Container()
        _ = try container.folder.write(noise(300_000, seed: 1), to: "noise")
        _ = try container.shell(
            "mkdir -p b/s && echo a >b/a && cp noise b/s/n && echo run >b/run && chmod 700 b/run")
    }

    /// The permissions of all that is below a folder, by name.
    private func permissions(below folder: String) throws -> [String: String] {
        let lines = try container.shell(
            #"cd "$CONTAINER/\#(folder)" && find . -mindepth 1 -printf '%P %m\n'"#)
        return Dictionary(
            uniqueKeysWithValues: lines.text.split(separator: "\n").map { line in
                let parts = line.split(separator: " ")
                return (String(parts[0]), String(parts[1]))
            })
    }

    @Test func documentsFollowTheUmaskAndApplicationSupportIsPrivate() throws {
        for (umask, file, folder) in [
            ("002", "664", "775"), ("077", "600", "700"),
        ] {
            let outcome = try container.shell(
                #"""
                umask \#(umask); rm -rf "$CONTAINER"; put() { "$CACHECTL" put "$@" --quiet --container "$CONTAINER"; }
                put text - --to documents --name text <b/a; put noise noise --to documents --name noise
                put bundle b --to documents --name B; put deep b/a --to documents --folder Sub/Er --name deep
                put asked noise --to documents --name asked --requested >/dev/null; put own noise --name own; put b b
                "$CACHECTL" open text noise bundle deep own b --container "$CONTAINER" >/dev/null
                """#)
            #expect(outcome.errors == "")
            #expect(
                try permissions(below: "Documents") == [
                    "text": file, "noise": file, "asked": file, "Sub": folder, "Sub/Er": folder,
                    "Sub/Er/deep": file, "B": folder, "B/a": file, "B/s": folder, "B/s/n": file,
                    "B/run": folder,
                ])
            #expect(
                try permissions(below: "Library/Application Support/PrefetchCache/files") == [
                    "own": "600", "b": "700", "b/a": "600", "b/s": "700", "b/s/n": "600", "b/run": "700",
                ])
        }
    }
}

@Suite(.enabled(if: getuid() == 0, "That is about root.")) struct RootTests {
    /// It would belong to root, and the user could not use it.
    @Test func rootMakesNoCacheForAUser() async throws {
        let container = try Container(hasCache: false)
        try FileManager.default.createDirectory(at: container.root, withIntermediateDirectories: true)
        #expect(chown(container.root.path, 12345, 12345) == 0)
        let outcome = try await container.cachectl("put", "k", "-", input: text)
        #expect(outcome.status == 77)
        #expect(outcome.errors.contains("as that user: sudo -u '#12345' cachectl …"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.root.path) == [])
    }
}
