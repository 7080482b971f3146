import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

@Suite struct ForgetTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func theFileStaysAndTheKeyMayBeStoredAgain() async throws {
        try await container.succeed("put", "k", "-", "--to", "documents", "--name", "n.txt", input: text)
        try await container.succeed("open", "k")
        #expect(try await container.cachectl("put", "k", "-", input: text).status == 75)

        #expect(
            try await container.succeed("forget", "k").text
                == "forgot k; its file stays, and out of backups\n")
        #expect(try Data(contentsOf: container.root.appending(path: "Documents/n.txt")) == text)
        let later = Data("later".utf8)
        try await container.succeed("put", "k", "-", "--to", "documents", "--name", "n.txt", input: later)
        let path = try await container.succeed("open", "k").text
        #expect(path == container.root.appending(path: "Documents/n (2).txt").path + "\n")
    }

    @Test func theFileIsDeletedWithItOnRequest() async throws {
        for key in ["k", "same"] {
            try await container.succeed("put", key, "-", "--to", "documents", "--name", "n.txt", input: text)
            try await container.succeed("open", key)
        }
        let file = container.root.appending(path: "Documents/n.txt")
        let kept = try await container.succeed("forget", "k", "--delete-file").text
        #expect(kept == "forgot k; its file stays, as another key has the same one\n")
        #expect(try Data(contentsOf: file) == text)
        #expect(try await container.json("forget", "same", "--delete-file")["fileDeleted"] as? Bool == true)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try await container.cachectl("forget", "same", "--delete-file").status == 66)

        try await container.succeed("put", "k", "-", "--to", "documents", "--name", "n.txt", input: text)
        try await container.succeed("open", "k")
        try FileManager.default.removeItem(at: file)
        #expect(
            try await container.succeed("forget", "k", "--delete-file").text
                == "forgot k; it had no file any more\n")
    }

    @Test func severalAreForgottenAndWhatIsUnknownIsNamed() async throws {
        for key in ["a", "b"] {
            try await container.succeed("put", key, "-", "--backup", "include", input: text)
            try await container.succeed("open", key)
        }
        let outcome = try await container.cachectl("forget", "a", "x", "b")
        #expect(outcome.status == 66)
        #expect(outcome.text == "forgot a; its file stays\nforgot b; its file stays\n")
        #expect(outcome.errors.contains("already forgotten: 'x';"))
        #expect(try await container.cachectl("open", "a").status == 66)
        try await container.succeed("put", "a", "-", "--name", "again", input: text)
        try await container.succeed("open", "a")
        let object = try await container.json("forget", "a")
        #expect(Set(object.keys) == ["forgotten", "schemaVersion"] && object["forgotten"] as? String == "a")
    }

    @Test func whatWasForgottenIsReportedEvenIfTheNextKeyFails() async throws {
        for key in ["a", "b", "held"] {
            try await container.succeed("put", key, "-", "--name", key, input: text + Data(key.utf8))
            try await container.succeed("open", key)
        }
        let keys = try await container.json("forget", "a", "a", "b")["keys"] as? [[String: Any]]
        #expect(keys?.compactMap { $0["forgotten"] as? String } == ["a", "b"])

        try await container.succeed("put", "a", "-", "--name", "a", input: text)
        try await container.succeed("open", "a")
        let locks = container.root.appending(
            path: "Library/Application Support/PrefetchCache/staging/\(CacheLayout.keyLocks.string)")
        let live = LiveFileSystem()
        let file = try live.open(FilePath(locks.path), in: .workingDirectory, .readWrite)
        defer { live.unlock(file) }
        #expect(try live.lockByte(KeyLock.position(of: ItemKey("held").hash), of: file))
        let outcome = try await container.cachectl("forget", "a", "held", "--json")
        #expect(outcome.status != 0)
        #expect(outcome.text.contains(#""a""#))
    }

    @Test func whatWasNeverOpenedIsNotFound() async throws {
        try await container.succeed("put", "k", "-", input: text)
        for key in ["k", "unknown\u{1B}"] {
            let outcome = try await container.cachectl("forget", key)
            #expect(outcome.status == 66)
            #expect(outcome.output.isEmpty)
            #expect(!outcome.errors.contains("\u{1B}"))
        }
        #expect(try await container.succeed("cat", "k").output == text)
    }
}
