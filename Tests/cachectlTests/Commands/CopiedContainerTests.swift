import FileSystemTestSupport
import Foundation
import Testing

/// A container that was copied as a whole, by which files lose their marks and get other inodes.
@Suite struct CopiedContainerTests {
    let container: Container

    init() async throws {
        container = try Container()
        for name in ["map", "changed"] {
            try await container.succeed(
                "put", name, "-", "--to", "documents", "--name", "\(name).txt", "--backup", "exclude",
                input: text + Data(name.utf8))
        }
        try container.write("one page", to: "../guide/1.html")
        try await container.succeed(
            "put", "guide", container.folder.file("guide").path, "--to", "documents", "--backup", "exclude")
        try await container.succeed("open", "map", "changed", "guide")
    }

    /// Copies the container without attributes and times.
    private func copy() throws -> Container {
        let copy = try Container(hasCache: false)
        let outcome = try Tool.start(
            "/bin/cp", ["-r", container.root.path, copy.root.path], in: container.folder)
        try #require(outcome.status == 0)
        return copy
    }

    private func findings(in container: Container) async throws -> [String] {
        let record = try await container.cachectl("inventory", "--check", "--json").object
        let findings = try #require(record["findings"] as? [[String: Any]])
        return findings.map { "\($0["rule"] ?? "") \($0["path"] ?? "")" }
    }

    @Test func repairMarksAgainWhatIsAsItWasOpened() async throws {
        let copy = try copy()
        try copy.write("the user's own words", to: "Documents/changed.txt")
        let staging = "Library/Application Support/PrefetchCache/staging"
        let lost = ["Documents/guide", "Documents/map.txt", staging].map {
            "exclusion-mark-lost \($0)"
        }
        #expect(try await findings(in: copy).sorted() == lost)
        let told = try await copy.succeed("repair", "--dry-run").text
        #expect(told.contains("would restore backup mark  Documents/map.txt ('map')\n"))
        let done = try await copy.succeed("repair").text
        for name in ["map.txt ('map')", "guide ('guide')"] {
            #expect(done.contains("restored backup mark") && done.contains("  Documents/\(name)\n"))
        }
        let left = "Documents/changed.txt ('changed', its content is not what was opened: backups keep it)"
        #expect(done.contains("left without mark") && done.contains(left))
        let again = try await copy.json("repair")
        #expect((again["steps"] as? [Any])?.isEmpty == true)
        let skipped = try #require(again["skipped"] as? [[String: String]])
        #expect(skipped.map { $0["key"] } == ["changed"])
        #expect(try await findings(in: copy) == [])
    }

    /// It cannot be told from one that the user has saved there.
    @Test func aCopyInTheContainerItselfIsTheUsersForAllCommands() async throws {
        let file = container.root.appending(path: "Documents/map.txt")
        try Data(contentsOf: file).write(to: file, options: .atomic)
        let told = try await container.succeed("repair").text
        #expect(told.contains("Documents/map.txt ('map', another file has taken its place: backups keep it)"))
        #expect(try await container.json("verify")["modified"] as? Int == 1)
        let purged = try await container.json("purge", "--excluded", "--older-than", "0s", "--dry-run")
        let changed = try #require(purged["changed"] as? [[String: Any]])
        #expect(changed.map { $0["key"] as? String } == ["map"])
        #expect(try await findings(in: container) == [])
    }

    @Test func verifyAndPurgeJudgeAlike() async throws {
        let copy = try copy()
        #expect(try await copy.json("verify")["verifiedFiles"] as? Int == 3)
        let purged = try await copy.json("purge", "--excluded", "--older-than", "0s")
        #expect((purged["purged"] as? [Any])?.count == 3 && (purged["changed"] as? [Any])?.isEmpty == true)
    }
}
