import Foundation
import HTTPTestServer
import Testing

@Suite struct FetchMissingTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    /// Fetches and opens an item, and removes its file as a restore would.
    private func loseFile(_ server: HTTPTestServer, _ options: String...) async throws -> URL {
        let arguments =
            ["fetch", server.url("/film").absoluteString, "--key", "film", "--to", "documents", "--name"]
            + ["Film.txt", "--backup", "exclude"] + options + ["--container", container.root.path]
        #expect(try await Tool.run(arguments, in: container.folder).status == 0)
        let path = try await container.succeed("open", "film").text.trimmingCharacters(in: .newlines)
        let file = URL(filePath: path)
        try FileManager.default.removeItem(at: file)
        return file
    }

    @Test func aLostFileIsListedAndDownloadedAgain() async throws {
        let server = try HTTPTestServer { TestResource(text).answer(to: $0) }
        let file = try await loseFile(server, "--record-url")
        let listed = try await container.succeed("fetch", "--missing", "--dry-run").text
        #expect(listed.contains("Documents/Film.txt"))
        #expect(listed.contains(server.url("/film").absoluteString))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try await container.succeed("fetch", "--missing").text == file.path + "\n")
        #expect(try Data(contentsOf: file) == text)
        #expect(try await container.succeed("fetch", "--missing").text == "no file is missing\n")
    }

    @Test func withoutAURLTheCommandSaysWhatToDo() async throws {
        let server = try HTTPTestServer { TestResource(text).answer(to: $0) }
        _ = try await loseFile(server)
        let outcome = try await container.cachectl("fetch", "--missing")
        #expect(outcome.status == 66)
        #expect(outcome.errors.contains("no URL was recorded"))
        #expect(server.requests.count == 1)
    }

    @Test func aKeyOfWhichNothingIsMissingIsAnError() async throws {
        let outcome = try await container.cachectl("fetch", "--missing", "--key", "unknown")
        #expect(outcome.status == 66)
        #expect(outcome.errors.contains("no file of 'unknown' is missing"))
    }

    @Test func showTellsWhereAnOpenedFileCameFrom() async throws {
        let server = try HTTPTestServer { TestResource(text).answer(to: $0) }
        let file = try await loseFile(server, "--record-url", "--source", "daily")
        try text.write(to: file)
        let shown = try await container.json("show", "film")
        #expect(shown["source"] as? String == "daily")
        #expect(shown["intent"] as? String == "opportunistic")
        #expect(shown["url"] as? String == server.url("/film").absoluteString)
        #expect(shown["backup"] as? String == "exclude")
        #expect(shown["adopted"] as? Bool == false)
        #expect(shown["storedAtMilliseconds"] is Int)
        #expect(shown["openedAtMilliseconds"] is Int)
        #expect(try await container.succeed("show", "film").text.contains("daily"))
    }
}
