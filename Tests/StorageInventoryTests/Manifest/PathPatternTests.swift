import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

@Suite struct PathPatternTests {
    @Test(arguments: [
        ("Documents/a.pdf", "Documents/a.pdf"), ("Documents/*.pdf", "Documents/.pdf"),
        ("Documents/*", "Documents/.hidden"), ("Documents/?.pdf", "Documents/é.pdf"),
        ("Documents/??.pdf", "Documents/e\u{301}.pdf"), ("Documents/*é*", "Documents/aéb"),
        ("Documents/**", "Documents/a"), ("Documents/**", "Documents/a/b/c"),
        ("Documents/**/*.pdf", "Documents/a.pdf"), ("Documents/**/*.pdf", "Documents/a/b/c.pdf"),
        ("**", "a"), ("**/a", "a"), ("**/a", "b/c/a"), ("**/a/**/b", "a/a/c/b/b"),
        ("a/**/**/b", "a/b"), ("a*b*c", "abcabc"), ("*a*a*", "aa"), ("*?", "é"),
        ("Library/*/*/x", "Library/a/b/x"), ("a[b]{c}\\d", "a[b]{c}\\d"), ("*", "a*b"),
        ("a/\u{301}b", "a/\u{301}b"), ("a/\u{301}*/**", "a/\u{301}b/c"),
    ])
    func aPatternMatches(_ pattern: String, _ path: String) throws {
        #expect(try PathPattern(pattern).matches(path))
    }

    @Test(arguments: [
        ("Documents/a.pdf", "Documents/A.pdf"), ("Documents/a.pdf", "Documents/b/a.pdf"),
        ("Documents/*.pdf", "Documents/a/b.pdf"), ("Documents/*", "Documents/a/b"),
        ("Documents/**", "Documents"), ("Documents/**/*.pdf", "Documents/a.txt"),
        ("Documents/**/*.pdf", "Library/a.pdf"), ("**/a", "b/a/c"), ("**/a/**/b", "a"),
        ("a/**/b", "a/c"), ("?", "ab"), ("?", "e\u{301}"), ("a*b", "abc"), ("*a*a*", "a"),
        ("é", "e\u{301}"), ("a", "a/b"), ("a/b", "a"),
    ])
    func aPatternDoesNotMatch(_ pattern: String, _ path: String) throws {
        #expect(try !PathPattern(pattern).matches(path))
    }

    @Test func bytesThatAreNoTextAreOneCharacterEach() throws {
        let path = FilePath(bytes: [UInt8(ascii: "a"), 0xFF, 0xFE, UInt8(ascii: "*")])
        #expect(try PathPattern("a??*").matches(path.string))
        #expect(try !PathPattern("a?").matches(path.string))
        #expect(PathPattern.text(for: path) == "a???")
    }

    /// With a backtracking matcher this takes longer than the universe is old.
    @Test func aHostilePatternCostsNoTime() throws {
        let stars = String(repeating: "a*", count: 100) + "b?"
        #expect(try !PathPattern(stars).matches(String(repeating: "a", count: 250)))
        let folders = String(repeating: "**/a/", count: 60) + "b"
        #expect(try !PathPattern(folders).matches(String(repeating: "a/", count: 500) + "c/b"))
        let both = String(repeating: "**/*a*a*/", count: 30) + "*b"
        #expect(try !PathPattern(both).matches(String(repeating: "aaaaaaaa/", count: 200) + "c"))
    }

    /// Patterns that all match one file, the most specific first.
    static let ranks = [
        "Documents/Films/a.pdf", "Documents/Films/*.pdf", "Documents/Films/?.*", "Documents/Films/*",
        "Documents/Films/**/*.pdf", "Documents/Films/**", "Documents/F*/a.pdf", "Documents/*/a.pdf",
        "Documents/*/**", "Documents/**/Films/*", "Documents/**/a.pdf", "Documents/**/*.pdf", "Documents/**",
        "**/Films/a.pdf", "**/a.pdf", "**/*.pdf", "**",
    ]

    @Test func theMostSpecificPatternWinsInWhateverOrderTheyStand() throws {
        let entries = try Self.ranks.map { try StorageManifest.Entry.sample($0) }
        let path: FilePath = "Documents/Films/a.pdf"
        for count in 0..<entries.count {
            let rest = Array(entries[count...])
            for some in [rest, rest.reversed()] {
                let manifest = StorageManifest(app: nil, entries: some)
                #expect(manifest.entry(for: path)?.pattern.text == Self.ranks[count])
            }
        }
    }

    @Test func ofPatternsThatAreAlikeTheFirstWins() throws {
        let entries = try ["*a", "a*"].map { try StorageManifest.Entry.sample($0) }
        #expect(StorageManifest(app: nil, entries: entries).entry(for: "aa")?.pattern.text == "*a")
        let reversed = StorageManifest(app: nil, entries: entries.reversed())
        #expect(reversed.entry(for: "aa")?.pattern.text == "a*")
    }

    static let faults: [(String, PathPatternError)] = [
        ("", .empty), ("/Documents", .absolute), ("/", .absolute), ("Documents/", .endsWithSlash),
        ("Documents//a", .emptyPart), ("./a", .dots), ("a/../b", .dots), ("..", .dots), ("a/.", .dots),
        ("a**", .starsInName), ("a/**b/c", .starsInName), ("***", .starsInName), ("a\0b", .hasNUL),
    ]

    @Test(arguments: faults) func whatIsNoPatternIsRefused(_ text: String, _ error: PathPatternError) {
        #expect(throws: error) { try PathPattern(text) }
    }

    @Test func everyErrorIsTestedAndSaysWhatToDo() {
        #expect(Set(Self.faults.map(\.1)) == Set(PathPatternError.allCases))
        for error in PathPatternError.allCases {
            #expect(error.description.contains("write ") || error.description.contains("remove"), "\(error)")
        }
    }
}

extension StorageManifest.Entry {
    /// An entry that says little.
    static func sample(
        _ pattern: String, area: Area? = .documents, backup: StorageManifest.Backup = .system,
        regenerable: StorageManifest.Regenerable = .no
    ) throws -> StorageManifest.Entry {
        StorageManifest.Entry(
            pattern: try PathPattern(pattern), what: "files", why: "a test needs them", area: area,
            backup: backup, regenerable: regenerable)
    }
}
