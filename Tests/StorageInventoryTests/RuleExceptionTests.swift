import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

private let support = "Library/Application Support"
private let sdk = "\(support)/com.oldsdk.Analytics"

/// Where the rules end: what only looks like what they find.
@Suite final class RuleExceptionTests: ContainerSuite {
    /// Files that are right where they are, after some days, and with a mark.
    private static let right: [(path: String, days: Int, isMarked: Bool)] = [
        // What people call their documents, and what the system hides among them.
        ("Documents/Travel-journal", 0, false), ("Documents/CURRENT", 0, false),
        ("Documents/data.json", 0, false), ("Documents/20240101120000123.heic", 0, false),
        ("Documents/facefeedfacefeed.txt", 0, false), ("Documents/.Report.pdf.icloud", 0, false),
        ("Documents/.DS_Store", 0, false), ("Documents/.Trash/old.pdf", 0, false),
        // Work, what is used twice a year, and what an app downloads.
        ("tmp/export", 0, false), ("\(sdk)/a.bin", 179, false),
        ("Library/Caches/Issues/issue-42.pdf", 0, false),
        ("Library/Caches/Issues/book.epub", 0, false), ("Library/Caches/Issues/photo.jpg", 0, false),
        ("Library/Caches/Issues/film.mp4", 0, false),
        // A mark is right on what can be downloaded again, in any folder.
        ("Documents/Heat.mp4", 0, true), ("\(support)/Maps/alps.map", 0, true),
        ("Documents/Offline/level 2.pak", 0, true), ("Library/Voices/anna.bin", 0, true),
        // It is the user's, and advice to delete it would be the end of it.
        (
            "\(support)/PrefetchCache/staging/0123456789abcdef0123456789abcdef-0123456789abcdef-1.aside", 2,
            false
        ),
    ]

    @Test(arguments: right) func whatIsRightIsNotReported(_ path: String, _ days: Int, _ isMarked: Bool)
        throws
    {
        try write("x", to: path, days: days, isMarked: isMarked)
        #expect(try found() == [])
    }

    private static let databases: [(String, [UInt8])] = [
        ("notes.data", Array("SQLite format 3\0".utf8)), ("empty.sqlite3", [1]),
        ("objects.data", [UInt8](repeating: 0, count: 16) + Array("T-DB".utf8)),
        ("data.mdb", [UInt8](repeating: 0, count: 16) + [0xDE, 0xC0, 0xEF, 0xBE]),
        ("sums.data", [UInt8](repeating: 1, count: 8) + Array("DUCK".utf8)),
        ("old.data", [UInt8](repeating: 0, count: 12) + [0x62, 0x31, 5, 0]),
        ("gnu.data", [0xCE, 0x9A, 0x57, 0x13]), ("Model.storedata", Array("<?xml".utf8)),
    ]

    @Test(arguments: databases) func anyCommonDatabaseIsNoDocument(_ name: String, _ bytes: [UInt8]) throws {
        try container.write(Data(bytes), to: "Documents/\(name)")
        #expect(try found() == ["no-document"])
    }

    @Test(arguments: ["tiles.mbtiles", "thumbs.sqlite", "org.example.app/Cache.db", "ImageCache.sqlite"])
    func aDatabaseThatIsACacheIsRightInCaches(_ name: String) throws {
        try write("SQLite format 3\0", to: "Library/Caches/\(name)")
        #expect(try found() == [])
    }

    @Test func aFolderThatIsFilledMeanwhileIsNotEmpty() throws {
        try container.createFolder("Documents/Album")
        let inventory = try container.inventory()
        #expect(findings(of: inventory).map(\.rule.name) == ["empty-folder"])
        try write("song", to: "Documents/Album/1.mp3")
        #expect(findings(of: inventory) == [])
    }

    // MARK: What is used

    /// A year later, or in an old copy: nothing there was used, and nothing can be said.
    @Test func inAnAppThatIsNotUsedNothingIsForgotten() throws {
        let container = try SampleContainer()
        for path in ["\(sdk)/a.bin", "\(support)/Own/b.bin", "Documents/letter.txt"] {
            try container.write(to: path, days: 400)
        }
        #expect(try container.findings() == [])
    }

    /// Files of equal length are read to compare them, which must not look like a use.
    @Test func aCheckIsNoUse() throws {
        for name in ["a", "b"] { try write("the same length \(name)", to: "\(sdk)/\(name).bin", days: 200) }
        try write("the same length c", to: "Documents/c.bin", days: 30)
        try write("the same length d", to: "Library/Caches/Other/c.bin", days: 30)
        for _ in 1...2 { #expect(try found() == ["forgotten"]) }
        let path = FilePath(container.url("Documents/c.bin").path)
        let live = LiveFileSystem()
        let accessed = try live.withFile(path, in: .workingDirectory, .read) { file throws(FileSystemError) in
            try live.accessTime(of: file)
        }
        #expect(try #require(accessed) / 1_000_000 < .now - 29 * 86_400_000)
    }

    @Test func theWorkOfALivingProcessIsNotAbandoned() async throws {
        let cache = try await container.cache()
        let metadata = ItemMetadata(key: "long", destination: .documents("Long.txt", backup: .include))
        guard case .writer(let writer) = try await cache.beginStoring(metadata, expectedLength: nil) else {
            throw SampleContainer.Unexpected()
        }
        _ = try await writer.write(content("long"))
        #expect(try found() == [])
        #expect(try container.inventory().files.contains { $0.kind == .partial })
        try await writer.cancel()
        try await cache.close()
    }

    // MARK: Copies

    @Test func anItemOfWhichTheFileWasOpenedTwiceOverIsFound() async throws {
        // As a restored container has it: the cached copy came back.
        let item = ItemMetadata(key: "again", destination: .documents("Again.txt", backup: .include))
        let cache = try await container.cache()
        _ = try await cache.store(content("film"), as: item)
        try await cache.close()
        #expect(try found() == ["same-content-twice"])
    }

    @Test func copiesThatCannotBeReadAreNotKnownToDiffer() throws {
        try write("one", to: "Documents/Plan.md")
        try write("two", to: "\(support)/Open/Plan.md")
        #expect(try found() == ["diverged-copies"])
        let fileSystem = failing { $0.kind == .open && $0.name == "Plan.md" }
        let checked = Checkup.run(on: try container.inventory(), .init(now: .now), in: fileSystem)
        #expect(checked.findings == [])
        #expect(checked.problems.count == 2)
    }
}
