import Foundation
import Testing

@Suite struct ForgetTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func theFileStaysAndTheKeyMayBeStoredAgain() throws {
        try container.succeed("put", "k", "-", "--to", "documents", "--name", "n.txt", input: text)
        try container.succeed("open", "k")
        #expect(try container.cachectl("put", "k", "-", input: text).status == 75)

        #expect(try container.succeed("forget", "k").text == "forgot k; its file stays, and out of backups\n")
        #expect(try Data(contentsOf: container.root.appending(path: "Documents/n.txt")) == text)
        let later = Data("later".utf8)
        try container.succeed("put", "k", "-", "--to", "documents", "--name", "n.txt", input: later)
        let path = try container.succeed("open", "k").text
        #expect(path == container.root.appending(path: "Documents/n (2).txt").path + "\n")
    }

    @Test func theFileIsDeletedWithItOnRequest() throws {
        for key in ["k", "same"] {
            try container.succeed("put", key, "-", "--to", "documents", "--name", "n.txt", input: text)
            try container.succeed("open", key)
        }
        let file = container.root.appending(path: "Documents/n.txt")
        let kept = try container.succeed("forget", "k", "--delete-file").text
        #expect(kept == "forgot k; its file stays, as another key has the same one\n")
        #expect(try Data(contentsOf: file) == text)
        #expect(try container.json("forget", "same", "--delete-file")["fileDeleted"] as? Bool == true)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try container.cachectl("forget", "same", "--delete-file").status == 66)

        try container.succeed("put", "k", "-", "--to", "documents", "--name", "n.txt", input: text)
        try container.succeed("open", "k")
        try FileManager.default.removeItem(at: file)
        #expect(
            try container.succeed("forget", "k", "--delete-file").text
                == "forgot k; it had no file any more\n")
    }

    @Test func jsonTellsWhatWasForgotten() throws {
        try container.succeed("put", "k", "-", input: text)
        try container.succeed("open", "k")
        let object = try container.json("forget", "k")
        #expect(Set(object.keys) == ["forgotten", "schemaVersion"])
        #expect(object["forgotten"] as? String == "k")
    }

    @Test func severalAreForgottenAndWhatIsUnknownIsNamed() throws {
        for key in ["a", "b"] {
            try container.succeed("put", key, "-", "--backup", "include", input: text)
            try container.succeed("open", key)
        }
        let outcome = try container.cachectl("forget", "a", "x", "b")
        #expect(outcome.status == 66)
        #expect(outcome.text == "forgot a; its file stays\nforgot b; its file stays\n")
        #expect(outcome.errors.contains("already forgotten: 'x';"))
        #expect(try container.cachectl("open", "a").status == 66)
    }

    @Test func jsonOfSeveralKeysIsOneObject() throws {
        for key in ["a", "b"] {
            try container.succeed("put", key, "-", input: text)
            try container.succeed("open", key)
        }
        let keys = try container.json("forget", "a", "b")["keys"] as? [[String: Any]]
        #expect(keys?.compactMap { $0["forgotten"] as? String } == ["a", "b"])
    }

    @Test func whatWasNeverOpenedIsNotFound() throws {
        try container.succeed("put", "k", "-", input: text)
        for key in ["k", "unknown\u{1B}"] {
            let outcome = try container.cachectl("forget", key)
            #expect(outcome.status == 66)
            #expect(outcome.output.isEmpty)
            #expect(!outcome.errors.contains("\u{1B}"))
        }
        #expect(try container.succeed("cat", "k").output == text)
    }
}
