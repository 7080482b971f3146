import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

/// Where the rules end: what they find in all its forms, and what only looks like it.
@Suite struct RuleExceptionTests {
    let container: SampleContainer

    init() async throws {
        container = try SampleContainer()
        try await container.use()
    }

    private func found() throws -> [String] { try container.findings().map(\.rule.name) }

    private func write(_ text: String, to path: String, days: Int = 0) throws {
        try container.write(Data(text.utf8), to: path)
        if days > 0 { try container.age(path, days: days) }
    }

    /// Two files of a terabyte, of which hardly anything is there. To read them would take hours.
    @Test func holesAreNotReadToTheirEnd() throws {
        for name in ["a.img", "b.img"] { try container.write(length: 1 << 40, to: "Documents/\(name)") }
        #expect(try found() == [])
    }

    // MARK: Among documents

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

    @Test(arguments: [
        ["Store/CURRENT", "Store/MANIFEST-000001", "Store/000003.ldb"],
        ["app.cblite2/db.sqlite3", "app.cblite2/Attachments/1.blob"],
        ["library.sqlite", "library.sqlite-wal", "library.sqlite-shm"],
        ["default.realm", "default.realm.lock"],
    ])
    func aDatabaseOfSeveralFilesIsOneFinding(_ names: [String]) throws {
        for name in names { try write("part \(name)", to: "Documents/\(name)") }
        let findings = try container.findings()
        #expect(findings.map(\.rule.name) == ["no-document"])
        #expect(findings.map(\.files) == [names.count])
    }

    @Test(arguments: [
        "Travel-journal", "CURRENT", "data.json", "20240101120000123.heic", "facefeedfacefeed.txt",
    ])
    func aDocumentMayHaveAnyNameThatPeopleGive(_ name: String) throws {
        try write("x", to: "Documents/\(name)")
        #expect(try found() == [])
    }

    @Test(arguments: [
        "0f8fad5b-d9cb-469f-a165-70867728950e", "0123456789ABCDEF", "d41d8cd98f00b204e9800998ecf8427e.pdf",
    ])
    func aNameThatOnlyAProgramUnderstandsIsFound(_ name: String) throws {
        try write("x", to: "Documents/\(name)")
        #expect(try found() == ["machine-name-among-documents"])
    }

    /// The user sees one document.
    @Test func whatIsInsideADocumentIsItsOwnAffair() throws {
        for name in ["Index/Document.log", "Metadata/settings.json", "thumb.jpg", ".hidden", "store.sqlite"] {
            try write("part \(name)", to: "Documents/Novel.pages/\(name)")
        }
        try FileManager.default.createDirectory(
            at: container.url("Documents/Novel.pages/Data"), withIntermediateDirectories: false)
        #expect(try found() == [])
    }

    @Test(arguments: [
        ("Documents", "user-data-excluded"), ("Library/Caches/Drafts", "user-data-purgeable"),
        ("Library/Application Support/Drafts", "document-in-support"),
    ])
    func aDocumentThatIsAFolderIsOneDocument(_ folder: String, _ rule: String) throws {
        for name in ["Index.zip", "preview.jpg", "Data/1.db"] {
            try write("part \(name)", to: "\(folder)/Novel.pages/\(name)")
        }
        if folder == "Documents" { try container.mark(.exclude, "Documents/Novel.pages") }
        let findings = try container.findings()
        #expect(findings.map(\.rule.name) == [rule])
        #expect(findings.map(\.path.string) == ["\(folder)/Novel.pages"])
        #expect(findings.map(\.files) == [3])
    }

    @Test(arguments: [".Report.pdf.icloud", ".DS_Store", ".Trash/old.pdf"])
    func whatTheSystemHidesAmongDocumentsIsRight(_ name: String) throws {
        try write("x", to: "Documents/\(name)")
        #expect(try found() == [])
    }

    // MARK: Empty folders

    @Test(arguments: ["Documents/Inbox", "Documents/.Trash", "Library/Application Support/Later", "tmp/work"])
    func anEmptyFolderThatTheUserDoesNotSeeOrTheSystemMadeIsRight(_ path: String) throws {
        try FileManager.default.createDirectory(
            at: container.url(path), withIntermediateDirectories: true)
        #expect(try found() == [])
    }

    @Test func aFolderThatIsFilledMeanwhileIsNotEmpty() throws {
        try FileManager.default.createDirectory(
            at: container.url("Documents/Album"), withIntermediateDirectories: false)
        let inventory = try container.inventory()
        let options = Checkup.Options(now: .now)
        #expect(
            Checkup.run(on: inventory, options, in: LiveFileSystem()).findings.map(\.rule.name)
                == ["empty-folder"])
        try write("song", to: "Documents/Album/1.mp3")
        #expect(Checkup.run(on: inventory, options, in: LiveFileSystem()).findings == [])
    }

    // MARK: What was forgotten

    private let sdk = "Library/Application Support/com.oldsdk.Analytics"

    @Test func aFolderOfWhichOneFileIsReadIsNotForgotten() throws {
        try write("a", to: "\(sdk)/a.bin", days: 200)
        try write("bb", to: "\(sdk)/deep/b.bin", days: 200)
        #expect(try found() == ["forgotten"])
        try Command.run("/usr/bin/touch", "-a", container.url("\(sdk)/deep/b.bin").path)
        #expect(try found() == [])
    }

    @Test func aFolderThatIsUsedTwiceAYearIsNotForgotten() throws {
        try write("a", to: "\(sdk)/a.bin", days: 179)
        #expect(try found() == [])
    }

    @Test(arguments: [
        "Library/Application Support/Projects/Novel.pages", "Library/Preferences/com.oldsdk.plist",
        "Library/Caches/com.apple.metal/functions.data", "Library/WebKit/local.bin",
    ])
    func whatIsTheUsersOrTheSystemsIsNeverForgotten(_ path: String) throws {
        try write("a", to: path, days: 400)
        #expect(!(try found().contains("forgotten")))
    }

    /// A year later, or in an old copy: nothing there was used, and nothing can be said.
    @Test func inAnAppThatIsNotUsedNothingIsForgotten() throws {
        let container = try SampleContainer()
        for path in ["\(sdk)/a.bin", "Library/Application Support/Own/b.bin", "Documents/letter.txt"] {
            try container.write(Data(path.utf8), to: path)
            try container.age(path, days: 400)
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

    // MARK: Copies

    @Test func theSameContentIsFoundUnlessItIsAFewBytes() throws {
        try write("sixteen bytes or more", to: "Documents/one.bin")
        try write("sixteen bytes or more", to: "Library/Application Support/Other/two.bin")
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
        try write("two!", to: "Library/Application Support/Games/level.dat")
        #expect(try found() == [])
    }

    @Test func copiesOfOneLengthThatDifferAreFoundInAllPlaces() throws {
        try FileManager.default.removeItem(at: container.url("Documents/letter.txt"))
        try write("one", to: "Documents/Plan.md")
        try write("two", to: "Library/Mobile Documents/Plan.md")
        try write("six", to: "Library/Application Support/Open/Plan.md")
        let findings = try container.findings()
        #expect(findings.map(\.rule.name) == ["diverged-copies"])
        #expect(findings.map(\.files) == [3])
    }

    @Test func copiesThatCannotBeReadAreNotKnownToDiffer() throws {
        try write("one", to: "Documents/Plan.md")
        try write("two", to: "Library/Application Support/Open/Plan.md")
        #expect(try found() == ["diverged-copies"])
        let inventory = try container.inventory()
        let fileSystem = InterceptingFileSystem(isOutside: true) { operation throws(FileSystemError) in
            guard operation.kind == .open, operation.name == "Plan.md" else { return }
            throw FileSystemError("open", path: "Plan.md", errno: .permissionDenied)
        }
        let checked = Checkup.run(on: inventory, .init(now: .now), in: fileSystem)
        #expect(checked.findings == [])
        #expect(checked.problems.count == 2)
    }

    // MARK: Marks on folders

    @Test(arguments: [
        "Library/Application Support/org.example.app", "Library/org.example.app.offline",
        "Library/Application Support/Own/Offline", "Library/SplashBoard", "Documents/Films",
    ])
    func anExcludedFolderIsRightUnderItsOwnNameOrFurtherDown(_ path: String) throws {
        try write("offline", to: "\(path)/1.bin")
        try container.mark(.exclude, path)
        let rules = try found()
        // The opened film in Documents is to be backed up.
        #expect(rules == (path == "Documents/Films" ? ["user-data-excluded"] : []))
    }

    @Test func aFewMarksAreNoGroupAndOneOnTheFolderIsEnough() throws {
        for number in 1...9 {
            let path = "Library/Application Support/org.example.app/\(number).bin"
            try write("part \(number)", to: path)
            if number <= 3 { try container.mark(.exclude, path) }
        }
        #expect(try found() == [])
        try container.mark(.exclude, "Library/Application Support/org.example.app")
        #expect(try found() == [])
    }
}
