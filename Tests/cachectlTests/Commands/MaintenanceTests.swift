import Foundation
import Testing

@Suite struct MaintenanceTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func verifyCountsInTheMannerOfOthers() async throws {
        for key in ["a", "b"] { try await container.succeed("put", key, "-", input: text) }
        try await container.succeed("open", "a")
        #expect(try await container.succeed("verify").text.contains("verified  1 item, 1 opened file"))
        let record = try await container.json("verify", "--sample", "1", "--seed", "4")
        #expect(record["seed"] as? Int == 4)
        #expect((record["findings"] as? [Any])?.isEmpty == true)
    }

    @Test func damageEndsVerifyWith65() async throws {
        try await container.succeed("put", "k\u{1B}[31m", "-", "--encoding", "identity", input: text)
        let file = try await container.onlyItemFile()
        var bytes = try Data(contentsOf: file)
        bytes[10] ^= 1
        try bytes.write(to: file)
        for isRepairing in [false, true] {
            let outcome = try await container.cachectl("verify", isRepairing ? "--repair" : "--verbose")
            #expect(outcome.status == 65)
            #expect(outcome.text.hasPrefix(isRepairing ? "damaged, quarantined" : "damaged "))
            #expect(!outcome.text.contains("\u{1B}"))
            #expect(outcome.errors.contains("damaged: 1"))
        }
        try await container.succeed("verify")
        #expect(try await container.json("stats")["quarantinedItems"] as? Int == 1)
        #expect(try await container.succeed("repair", "--keep-quarantined").text == "nothing to repair\n")
        #expect(try await container.succeed("repair").text.contains("removed quarantined item"))
        #expect(try await container.succeed("repair").text == "nothing to repair\n")
    }

    @Test func aDryRunOfRepairTellsAndDoesNot() async throws {
        try await container.succeed("put", "k", "-", input: text)
        try Data().write(to: await container.onlyItemFile())
        let told = try await container.succeed("repair", "--dry-run").text
        #expect(told.hasPrefix("would remove emptied item"))
        #expect(try await container.succeed("repair", "--dry-run").text == told)
        let steps = try await #require(container.json("repair")["steps"] as? [[String: Any]])
        #expect(steps.map { $0["action"] as? String } == ["purgedItemRemoved"])
    }

    @Test func purgeTakesOnlyWhatWasUnusedForSoLong() async throws {
        try await container.succeed("put", "map", "-", "--backup", "exclude", input: text)
        let path = try await container.succeed("open", "map").text.trimmingCharacters(in: .newlines)
        let nothing = try await container.succeed("purge", "--excluded", "--older-than", "1d").text
        #expect(nothing == "nothing to purge\n")
        let told = try await container.succeed("purge", "--excluded", "--older-than", "0s", "--dry-run").text
        #expect(told.hasPrefix("would purge"))
        #expect(FileManager.default.fileExists(atPath: path))
        let record = try await container.json("purge", "--excluded", "--older-than", "0s")
        #expect((record["purged"] as? [Any])?.count == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
        try await container.succeed("put", "map", "-", input: text)
    }

    @Test func migrateTakesAFolderIn() async throws {
        try container.write("a", to: "../old/a.txt")
        let old = container.folder.file("old").path
        try FileManager.default.createSymbolicLink(atPath: old + "/link", withDestinationPath: "a.txt")
        let told = try await container.succeed("migrate", "--from", old, "--as", "documents", "--dry-run")
            .text
        #expect(
            told.contains("would be moved a.txt → Documents/a.txt\nleft link: it is not a regular file\n"))
        let file = container.root.appending(path: "Documents/a.txt")
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let record = try await container.json("migrate", "--from", old, "--as", "documents")
        let files = try #require(record["files"] as? [[String: Any]])
        #expect(files.map { $0["outcome"] as? String } == ["moved", "left"])
        #expect(try Data(contentsOf: file) == Data("a".utf8))
        #expect(try await container.succeed("open", "a.txt").text.hasSuffix("Documents/a.txt\n"))
        try container.folder.write(text, to: "file")
        for (name, complaint) in [("missing", "there is no folder"), ("file", "is not a folder")] {
            let path = container.folder.file(name).path
            let outcome = try await container.cachectl("migrate", "--from", path, "--as", "cached")
            #expect(outcome.status == 66 && outcome.errors.contains(complaint))
        }
    }
}
