import Foundation
import Testing

@Suite struct MaintenanceTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private func damage() throws {
        let file = try container.onlyItemFile()
        var bytes = try Data(contentsOf: file)
        bytes[10] ^= 1
        try bytes.write(to: file)
    }

    @Test func verifyCountsInTheMannerOfOthers() throws {
        for key in ["a", "b"] { try container.succeed("put", key, "-", input: text) }
        try container.succeed("open", "a")
        let text = try container.succeed("verify").text
        #expect(text.contains("verified  1 item, 1 opened file"))
        let record = try container.json("verify", "--sample", "1", "--seed", "4")
        #expect(record["schemaVersion"] as? Int == 1)
        #expect(record["seed"] as? Int == 4)
        #expect((record["findings"] as? [Any])?.isEmpty == true)
    }

    @Test func damageEndsVerifyWith65() throws {
        try container.succeed("put", "k\u{1B}[31m", "-", "--encoding", "identity", input: text)
        try damage()
        for isRepairing in [false, true] {
            let outcome = try container.cachectl("verify", isRepairing ? "--repair" : "--verbose")
            #expect(outcome.status == 65)
            #expect(outcome.text.hasPrefix(isRepairing ? "damaged, quarantined" : "damaged "))
            #expect(!outcome.text.contains("\u{1B}"))
            #expect(outcome.errors.contains("damaged: 1"))
        }
        try container.succeed("verify")
        #expect(try container.json("stats")["quarantinedItems"] as? Int == 1)
        #expect(try container.succeed("repair", "--keep-quarantined").text == "nothing to repair\n")
        #expect(try container.succeed("repair").text.contains("removed quarantined item"))
        #expect(try container.succeed("repair").text == "nothing to repair\n")
    }

    @Test func aDryRunOfRepairTellsAndDoesNot() throws {
        try container.succeed("put", "k", "-", input: text)
        try Data().write(to: container.onlyItemFile())
        let told = try container.succeed("repair", "--dry-run").text
        #expect(told.hasPrefix("would remove emptied item"))
        #expect(try container.succeed("repair", "--dry-run").text == told)
        let steps = try #require(try container.json("repair")["steps"] as? [[String: Any]])
        #expect(steps.map { $0["action"] as? String } == ["purgedItemRemoved"])
    }

    @Test func evictionsCanBeTriedFirst() throws {
        for key in ["a", "b", "c"] {
            try container.succeed(
                "put", key, "-", "--source", key == "b" ? "two" : "one", input: noise(10_000, seed: 1))
        }
        for arguments in [["--all"], ["--bytes", "1"], ["--source", "one"], ["--to-bytes", "0"], ["a"]] {
            let outcome = try Tool.run(
                Tool.path, ["evict", "--dry-run", "--container", container.root.path] + arguments,
                in: container.folder)
            #expect(outcome.status == 0)
            #expect(outcome.text.hasPrefix("would evict a\n"), "\(arguments): \(outcome.text)")
        }
        #expect(try container.list().count == 3)
        #expect(
            try container.succeed("evict", "--source", "one", "--older-than", "1d").text
                == "nothing was evicted\n")
        #expect(try container.json("evict", "--source", "one")["evicted"] as? [String] == ["a", "c"])
        #expect(try container.list().count == 1)
        #expect(try container.cachectl("evict", "--all", "--source", "one").status == 64)
    }

    @Test func purgeNeedsItsCondition() throws {
        #expect(try container.cachectl("purge", "--older-than", "30d").status == 64)
        #expect(try container.cachectl("purge", "--excluded").status == 64)
        try container.succeed("put", "map", "-", "--backup", "exclude", input: text)
        let path = try container.succeed("open", "map").text.trimmingCharacters(in: .newlines)
        #expect(
            try container.succeed("purge", "--excluded", "--older-than", "1d").text == "nothing to purge\n")
        let told = try container.succeed("purge", "--excluded", "--older-than", "0s", "--dry-run").text
        #expect(told.hasPrefix("would purge"))
        #expect(FileManager.default.fileExists(atPath: path))
        let record = try container.json("purge", "--excluded", "--older-than", "0s")
        #expect((record["purged"] as? [Any])?.count == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
        try container.succeed("put", "map", "-", input: text)
    }

    @Test func migrateTakesAFolderIn() throws {
        let old = container.folder.url.appending(path: "old")
        try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
        try text.write(to: old.appending(path: "a.txt"))
        try FileManager.default.createSymbolicLink(
            atPath: old.appending(path: "link").path, withDestinationPath: "a.txt")
        let told = try container.succeed("migrate", "--from", old.path, "--as", "documents", "--dry-run").text
        #expect(
            told.contains("would be moved a.txt → Documents/a.txt\nleft link: it is not a regular file\n"))
        #expect(
            !FileManager.default.fileExists(atPath: container.root.appending(path: "Documents/a.txt").path))
        let files = try #require(
            try container.json("migrate", "--from", old.path, "--as", "documents")["files"]
                as? [[String: Any]])
        #expect(files.map { $0["outcome"] as? String } == ["moved", "left"])
        #expect(try Data(contentsOf: container.root.appending(path: "Documents/a.txt")) == text)
        #expect(try container.succeed("open", "a.txt").text.hasSuffix("Documents/a.txt\n"))
    }

    @Test(arguments: [("missing", "there is no folder"), ("file", "is not a folder")])
    func migrateNeedsAFolder(_ name: String, _ complaint: String) throws {
        try container.folder.write(text, to: "file")
        let outcome = try container.cachectl(
            "migrate", "--from", container.folder.file(name).path, "--as", "cached")
        #expect(outcome.status == 66)
        #expect(outcome.errors.contains(complaint))
    }
}
