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

    /// The patterns of a draft by where they are.
    private func patterns(below folder: String) throws -> [String] {
        try draft().entries.map(\.pattern.text).filter { $0.hasPrefix(folder) }
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

    @Test func anEntrySaysWhatIsKnown() throws {
        let map = try #require(
            try draft(app: "org.example").entries.first { $0.pattern.text.contains("Map") })
        #expect(map.area == .applicationSupport && map.backup == .exclude && map.regenerable == .download)
        #expect(map.what == "TODO: 1 opened item of type txt, from feed-a")
        #expect(map.why == "TODO: who needs it, and what is lost without it?")
        let letter = try #require(try draft().entries.first)
        #expect(letter.area == .documents && letter.backup == .include && letter.regenerable == .no)
        #expect(letter.what == "TODO: 1 file of type txt" && letter.owner == "us")
        let settings = try #require(try draft().entries.last)
        #expect(settings.area == nil && settings.backup == .include)
    }

    @Test func whatMayBePurgedIsLeftToTheSystem() throws {
        try fill("Library/Caches/Images", "a.jpg")
        try fill("tmp", "b")
        let entries = try draft().entries
        let cached = try #require(entries.first { $0.area == .caches })
        #expect(cached.backup == .system && cached.regenerable == .download)
        let temporary = try #require(entries.first { $0.area == .temporary })
        #expect(temporary.backup == .system && temporary.regenerable == .derive)
    }

    @Test func filesOfAFolderOrOfManyAreTogether() throws {
        let (art, tiles) = ("Library/Application Support/Art", "Library/Caches/Tiles")
        try fill(art, "a.jpg", "b.jpg", "c.png", "d", "e")
        for number in 0..<40 { try fill("\(tiles)/\(number % 7)/\(number)", "a.png", "index") }
        try fill("\(tiles)/3/3", "b.json")
        #expect(try patterns(below: art) == ["\(art)/*", "\(art)/*.jpg", "\(art)/c.png"])
        #expect(try patterns(below: tiles) == ["\(tiles)/**/*", "\(tiles)/**/*.png", "\(tiles)/3/3/b.json"])
        try expectExplained()
    }

    @Test func aFolderOfManyTypesHasOneEntry() throws {
        let folder = "Library/Application Support/Odd"
        for number in 0..<20 { try fill(folder, "a.t\(number)") }
        #expect(try patterns(below: folder) == ["\(folder)/*"])
        for number in 0..<20 { try fill("\(folder)/\(number)", "a.u\(number)") }
        #expect(try patterns(below: folder) == ["\(folder)/**/*"])
        try expectExplained()
    }

    @Test func theNextDocumentOfTheUserIsExplainedToo() throws {
        let draft = try draft()
        try write("another", to: "Documents/another letter.txt")
        #expect(!(try container.findings(by: draft).map(\.rule.name)).contains("unexplained"))
    }

    /// A more specific pattern takes files that another group was made of.
    @Test func anEntrySaysWhatIsTrueOfTheFilesThatItExplains() throws {
        let folder = "Library/Application Support/Mixed"
        try fill(folder + "/a", "1", "2", "x.jpg")
        try fill(folder + "/b", "y.jpg")
        try container.mark(.exclude, folder + "/a/x.jpg")
        try container.mark(.exclude, folder + "/b/y.jpg")
        try expectExplained()
        let mixed = try #require(try draft().entries.first { $0.pattern.text == folder + "/a/*" })
        #expect(mixed.backup == .system)
        let excluded = try #require(try draft().entries.first { $0.pattern.text == folder + "/**/*.jpg" })
        #expect(excluded.backup == .exclude && excluded.regenerable == .download)
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

    @Test func noFilesMakeAnEmptyDraft() throws {
        let empty = try SampleContainer()
        #expect(StorageManifest(draftOf: try empty.inventory(), app: nil).entries.isEmpty)
    }
}
