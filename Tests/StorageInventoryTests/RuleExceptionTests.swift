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

    /// Two files of a terabyte, of which hardly anything is there. To read them would take hours.
    @Test func holesAreNotReadToTheirEnd() throws {
        for name in ["a.img", "b.img"] { try container.write(length: 1 << 40, to: "Documents/\(name)") }
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

    @Test func whatIsInsideADocumentIsItsOwnAffair() throws {
        for name in ["Index/Document.log", "Metadata/settings.json", "thumb.jpg", ".hidden", "store.sqlite"] {
            try write(to: "Documents/Novel.pages/\(name)")
        }
        try container.createFolder("Documents/Novel.pages/Data")
        #expect(try found() == [])
    }

    @Test(arguments: ["Documents/Inbox", "Documents/.Trash", "\(support)/Later", "tmp/work"])
    func anEmptyFolderThatTheUserDoesNotSeeOrTheSystemMadeIsRight(_ path: String) throws {
        try container.createFolder(path)
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

    @Test func anExcludedFileThatWasReadLatelyIsInUse() throws {
        try write(to: "\(support)/Offline/tiles.bin", days: 60, isMarked: true)
        try Command.run("/usr/bin/touch", "-a", container.url("\(support)/Offline/tiles.bin").path)
        #expect(try found() == [])
    }

    @Test func aFolderOfWhichOneFileIsReadIsNotForgotten() throws {
        try write("a", to: "\(sdk)/a.bin", days: 200)
        try write("bb", to: "\(sdk)/deep/b.bin", days: 200)
        #expect(try found() == ["forgotten"])
        try Command.run("/usr/bin/touch", "-a", container.url("\(sdk)/deep/b.bin").path)
        #expect(try found() == [])
    }

    @Test(arguments: [
        "\(support)/Projects/Novel.pages", "Library/Preferences/com.oldsdk.plist",
        "Library/Caches/com.apple.metal/functions.data", "Library/WebKit/local.bin",
    ])
    func whatIsTheUsersOrTheSystemsIsNeverForgotten(_ path: String) throws {
        try write("a", to: path, days: 400)
        #expect(!(try found().contains("forgotten")))
    }

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

    @Test func whatADeadProcessLeftIsAbandoned() throws {
        let partial = "Library/Caches/PrefetchCache/incoming/0123456789abcdef"
        try write("half", to: "\(partial)-1")
        try write("", to: "\(partial).lock")
        #expect(try container.findings().map { "\($0.rule.name) \($0.path)" } == ["abandoned \(partial)-1"])
    }

    // MARK: Copies

    @Test func aHardLinkIsNoSecondCopy() throws {
        try container.link("Documents/Films/Film.txt", to: "Documents/Same.txt")
        #expect(try found() == [])
    }

    @Test func anItemOfWhichTheFileWasOpenedTwiceOverIsFound() async throws {
        // As a restored container has it: the cached copy came back.
        let item = ItemMetadata(key: "again", destination: .documents("Again.txt", backup: .include))
        let cache = try await container.cache()
        _ = try await cache.store(content("film"), as: item)
        try await cache.close()
        #expect(try found() == ["same-content-twice"])
    }

    @Test func theSameContentIsFoundUnlessItIsAFewBytes() throws {
        try write("sixteen bytes or more", to: "Documents/one.bin")
        try write("sixteen bytes or more", to: "\(support)/Other/two.bin")
        try write("", to: "Documents/nothing.bin")
        try write("", to: "Documents/nothing else.bin")
        #expect(try container.findings().map(\.path) == ["Documents/one.bin"])
    }

    @Test func smallItemsOfOneContentAreTheCachesAffair() async throws {
        let cache = try await container.cache()
        for key in ["a", "b"] as [ItemKey] {
            _ = try await cache.store(Data("a tile of the map".utf8), as: ItemMetadata(key: key))
        }
        try await cache.close()
        #expect(try found() == [])
        try write("a tile of the map", to: "Documents/tile.bin")
        #expect(try found() == ["same-content-twice"])
    }

    @Test func oneNameInOneAreaOrOnProgramFilesIsNoCopy() throws {
        try write("march", to: "Documents/March/Invoice.pdf")
        try write("april", to: "Documents/April/Invoice.pdf")
        try write("one", to: "Documents/Games/level.dat")
        try write("two!", to: "\(support)/Games/level.dat")
        #expect(try found() == [])
    }

    @Test func copiesOfOneLengthThatDifferAreFoundInAllPlaces() throws {
        try container.remove("Documents/letter.txt")
        try write("one", to: "Documents/Plan.md")
        try write("two", to: "Library/Mobile Documents/Plan.md")
        try write("six", to: "\(support)/Open/Plan.md")
        let findings = try container.findings()
        #expect(findings.map(\.rule.name) == ["diverged-copies"])
        #expect(findings.map(\.files) == [3])
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

    // MARK: Marks

    @Test(arguments: [
        "\(support)/org.example.app", "Library/org.example.app.offline", "\(support)/Own/Offline",
        "Library/SplashBoard", "Documents/Films",
    ])
    func anExcludedFolderIsRightUnderItsOwnNameOrFurtherDown(_ path: String) throws {
        try write("offline", to: "\(path)/1.bin")
        try container.mark(.exclude, path)
        // The opened film in Documents is to be backed up.
        #expect(try found() == (path == "Documents/Films" ? ["user-data-excluded"] : []))
    }

    @Test func aFewMarksAreNoGroupAndOneOnTheFolderIsEnough() throws {
        for number in 1...9 {
            try write(to: "\(support)/org.example.app/\(number).bin", isMarked: number <= 3)
        }
        #expect(try found() == [])
        try container.mark(.exclude, "\(support)/org.example.app")
        #expect(try found() == [])
    }

    private static let listed: [UInt8] = {
        let list = ["HTTPS://example.org/a.pdf", "https://example.org"]
        do {
            return Array(
                try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
        } catch {
            return []
        }
    }()

    @Test(arguments: [
        ("user.xdg.origin.url", Array("http://example.org/a.pdf".utf8)),
        ("user.com.apple.metadata:kMDItemWhereFroms", listed),
    ])
    func anAddressSaysThatAFileCanBeDownloadedAgain(_ name: String, _ value: [UInt8]) throws {
        let paths = ["Documents/Report.pdf", "\(support)/Reports/Old.pdf"]
        for path in paths { try write(to: path, isMarked: path.hasPrefix("Documents")) }
        #expect(try found().sorted() == ["document-in-support", "user-data-excluded"])
        for path in paths { try container.setAttribute(name, value, of: path) }
        #expect(try found() == [])
    }

    @Test(arguments: ["file:///home/me/a.pdf", "", "bplist00", "message:%3C1@example.org%3E"])
    func whatIsNoAddressOnTheWebSaysNothing(_ value: String) throws {
        try write(to: "Documents/Report.pdf", isMarked: true)
        try container.setAttribute("user.xdg.origin.url", value.utf8, of: "Documents/Report.pdf")
        #expect(try found() == ["user-data-excluded"])
    }

    /// What the cache wrote can be downloaded again, whatever its type; what the user wrote into it cannot.
    @Test func anExcludedDocumentThatTheUserChangedIsTheUsers() async throws {
        let item = ItemMetadata(key: "paper", destination: .documents("Paper.pdf", backup: .exclude))
        try await container.open([(item, content("paper"))])
        #expect(try found() == [])
        let file = try FileHandle(forWritingTo: container.url("Documents/Paper.pdf"))
        try file.seekToEnd()
        try file.write(contentsOf: Data("a note in the margin".utf8))
        try file.close()
        #expect(try found() == ["user-data-excluded"])
    }

    /// It was there before, and the cache only took note of it.
    @Test func whatTheCacheAdoptedIsTheUsers() async throws {
        // So large that it would be reported if it were a download.
        let content = Data(count: 16 << 20)
        try container.write(content, to: "Documents/Paper.bin")
        let item = ItemMetadata(key: "paper", destination: .documents("Paper.bin", backup: .exclude))
        try await container.open([(item, content)])
        #expect(try found() == [])
        try container.mark(.exclude, "Documents/Paper.bin")
        #expect(try found() == ["user-data-excluded"])
    }

    // MARK: Large files

    @Test func aLargeFileIsRightIfItIsTheUsersOrMarkedOrInCaches() throws {
        try container.write(length: 64 << 20, to: "Documents/Holiday.mov")
        try container.write(length: (16 << 20) - 1, to: "\(support)/Films/short.mp4")
        try container.write(length: 32 << 20, to: "Library/Caches/Films/ahead.mp4")
        try container.write(length: 48 << 20, to: "\(support)/Films/long.mp4")
        try container.mark(.exclude, "\(support)/Films/long.mp4")
        #expect(try found() == [])
    }

    @Test func aLargeItemThatIsBackedUpIsReported() async throws {
        let item = ItemMetadata(key: "film 2", destination: .documents("Film 2.bin", backup: .include))
        try await container.open([(item, Data(count: 16 << 20))])
        #expect(try found() == ["large-download-backed-up"])
    }
}
