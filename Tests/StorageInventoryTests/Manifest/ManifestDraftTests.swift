import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

@Suite final class ManifestDraftTests: ContainerSuite {
    private func draft(app: String? = nil) throws -> StorageManifest {
        StorageManifest(draftOf: try container.inventory(), app: app)
    }

    private func fill(_ folder: String, _ names: String...) throws {
        for name in names { try write(to: "\(folder)/\(name)") }
    }

    /// What a draft must not leave open, whatever there is.
    private func expectExplained(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let rules = Set(try container.findings(by: try draft()).map(\.rule.name))
        let contradictions: Set = ["unexplained", "misplaced", "backup-contradicts-manifest", "over-limit"]
        #expect(rules.isDisjoint(with: contradictions), "\(rules)", sourceLocation: sourceLocation)
    }

    @Test func aCheckWithTheDraftFindsOnlyWhatIsStillToBeWritten() throws {
        let draft = try draft()
        let found = try container.findings(by: draft)
        #expect(found.map(\.rule.name) == draft.entries.map { _ in "purpose-to-do" })
        #expect(
            draft.entries.map(\.pattern.text) == [
                "Documents/*.txt", "Documents/Films/*.txt",
                "Library/Application Support/PrefetchCache/files/Map.txt",
                "Library/Preferences/org.example.plist",
            ])
    }

    @Test func theNextDocumentOfTheUserIsExplainedToo() throws {
        let draft = try draft()
        try write("another", to: "Documents/another letter.txt")
        #expect(!(try container.findings(by: draft).map(\.rule.name)).contains("unexplained"))
    }

    @Test func strangeNamesAreExplained() throws {
        try fill("Library/Application Support/a**b", "*", "?", "[x].{y}", "back\\slash", "n\nl", "a..b")
        // With the slash before it, it makes one character.
        try fill("Library/Application Support/\u{301}", "x")
        try Command.run(
            "/bin/sh", "-c",
            "cd '\(container.root.path)/Library' && touch $(printf 'x\\377') $(printf 'x\\376')"
        )
        try expectExplained()
        for entry in try draft().entries { _ = try PathPattern(entry.pattern.text) }
    }

    @Test func theSameFilesGiveTheSameDraft() throws {
        for number in 0..<30 {
            try fill("Library/Caches/\(number % 5)/\(number)", "a.\(number % 3)", "b.txt")
        }
        let drafts = try (0..<5).map { _ in try draft() }
        #expect(Set(drafts.map { $0.entries.map { [$0.pattern.text, $0.what] } }).count == 1)
    }
}
