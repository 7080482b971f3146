import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

/// A mark is right on what can be downloaded again, in any folder, and wrong on anything else.
@Suite struct RecoverabilityTests {
    let container: SampleContainer

    init() async throws {
        container = try SampleContainer()
        try await container.use()
    }

    private func found() throws -> [String] { try container.findings().map(\.rule.name) }

    private func plantMarked(_ path: String) throws {
        try container.write(Data("content of \(path)".utf8), to: path)
        try container.mark(.exclude, path)
    }

    @Test(arguments: [
        "Documents/Heat.mp4", "Library/Application Support/Maps/alps.map", "Documents/Offline/level 2.pak",
        "Library/Voices/anna.bin",
    ])
    func whatCanBeDownloadedAgainMayBeMarkedAnywhere(_ path: String) throws {
        try plantMarked(path)
        #expect(try found() == [])
    }

    @Test(arguments: [
        "Documents/Heat.pdf", "Documents/Notes.md", "Library/Application Support/Books/Emma.epub",
        "Library/Sketches/House.psd",
    ])
    func whatTheUserMadeOrImportedMayBeMarkedNowhere(_ path: String) throws {
        try plantMarked(path)
        #expect(try found() == ["user-data-excluded"])
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
        try plantMarked("Documents/Report.pdf")
        try container.write(Data("support".utf8), to: "Library/Application Support/Reports/Old.pdf")
        #expect(try found().sorted() == ["document-in-support", "user-data-excluded"])
        for path in ["Documents/Report.pdf", "Library/Application Support/Reports/Old.pdf"] {
            try container.setAttribute(name, value, of: path)
        }
        #expect(try found() == [])
    }

    @Test(arguments: ["file:///home/me/a.pdf", "", "bplist00", "message:%3C1@example.org%3E"])
    func whatIsNoAddressOnTheWebSaysNothing(_ value: String) throws {
        try plantMarked("Documents/Report.pdf")
        try container.setAttribute("user.xdg.origin.url", value.utf8, of: "Documents/Report.pdf")
        #expect(try found() == ["user-data-excluded"])
    }

    /// What the cache wrote can be downloaded again, whatever its type; what the user wrote into it cannot.
    @Test func anExcludedDocumentThatTheUserChangedIsTheUsers() async throws {
        let cache = try await container.cache()
        let item = ItemMetadata(key: "paper", destination: .documents("Paper.pdf", backup: .exclude))
        _ = try await cache.store(content("paper"), as: item)
        _ = try #require(try await cache.open("paper"))
        try await cache.close()
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
        let cache = try await container.cache()
        let item = ItemMetadata(key: "paper", destination: .documents("Paper.bin", backup: .exclude))
        _ = try await cache.store(content, as: item)
        _ = try #require(try await cache.open("paper"))
        try await cache.close()
        #expect(try found() == [])
        try container.mark(.exclude, "Documents/Paper.bin")
        #expect(try found() == ["user-data-excluded"])
    }

    // MARK: Caches

    @Test(arguments: ["tiles.mbtiles", "thumbs.sqlite", "org.example.app/Cache.db", "ImageCache.sqlite"])
    func aDatabaseThatIsACacheIsRightInCaches(_ name: String) throws {
        try container.write(Data("SQLite format 3\0".utf8), to: "Library/Caches/\(name)")
        #expect(try found() == [])
    }

    @Test func aDatabaseInCachesIsOneNoteWithItsSideFiles() throws {
        for ending in ["", "-wal", "-shm"] {
            let text = ending.isEmpty ? "SQLite format 3\0" : "x\(ending)"
            try container.write(Data(text.utf8), to: "Library/Caches/Library.data\(ending)")
        }
        let findings = try container.findings()
        #expect(findings.map(\.rule.name) == ["database-in-caches"])
        #expect(findings.map(\.rule.severity) == [.note])
        #expect(findings.map(\.files) == [3])
    }

    @Test(arguments: ["issue-42.pdf", "book.epub", "photo.jpg", "film.mp4"])
    func whatAnAppDownloadsIsRightInCaches(_ name: String) throws {
        try container.write(Data("x".utf8), to: "Library/Caches/Issues/\(name)")
        #expect(try found() == [])
    }

    // MARK: Large files

    @Test func aFilmOfTheUsersOwnBelongsInTheBackup() throws {
        try container.write(length: 64 << 20, to: "Documents/Holiday.mov")
        #expect(try found() == [])
    }

    @Test func aFilmThatIsSmallOrMarkedOrInCachesIsNotReported() throws {
        try container.write(length: (16 << 20) - 1, to: "Library/Application Support/Films/short.mp4")
        try container.write(length: 32 << 20, to: "Library/Caches/Films/ahead.mp4")
        try container.write(length: 48 << 20, to: "Library/Application Support/Films/long.mp4")
        try container.mark(.exclude, "Library/Application Support/Films/long.mp4")
        #expect(try found() == [])
    }

    @Test func aLargeItemThatIsBackedUpIsReported() async throws {
        let cache = try await container.cache()
        let item = ItemMetadata(key: "film 2", destination: .documents("Film 2.bin", backup: .include))
        _ = try await cache.store(Data(count: 16 << 20), as: item)
        _ = try #require(try await cache.open("film 2"))
        try await cache.close()
        #expect(try found() == ["large-download-backed-up"])
    }
}
