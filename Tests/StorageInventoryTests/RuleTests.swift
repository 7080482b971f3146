import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

@Suite struct RuleTests {
    /// Something wrong with a container that was clean, named by the rule that has to find it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let rule: String
        let plant: @Sendable (SampleContainer) throws -> Void

        var testDescription: String { rule }
    }

    static let faults = [
        Fault(rule: "old-format") { try $0.setCatalogVersion(4) },
        Fault(rule: "missing-cache-tag") {
            try FileManager.default.removeItem(at: $0.url("Library/Caches/CACHEDIR.TAG"))
        },
        Fault(rule: "wrong-permissions") {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o722], ofItemAtPath: $0.url("Library/Caches/PrefetchCache").path)
        },
        Fault(rule: "ledger-entry-without-file") {
            try FileManager.default.removeItem(at: $0.url("Documents/Films"))
        },
        Fault(rule: "exclusion-mark-lost") {
            try $0.mark(.include, "Library/Application Support/PrefetchCache/files/Map.txt")
        },
        Fault(rule: "abandoned") {
            try $0.write(Data("left".utf8), to: "Library/Caches/PrefetchCache/items/old-index")
        },
        Fault(rule: "forgotten") {
            for name in ["events.dat", "queue/1.dat"] {
                let path = "Library/Application Support/com.oldsdk.Analytics/\(name)"
                try $0.write(Data("event \(name)".utf8), to: path)
                try $0.age(path, days: 200)
            }
        },
        Fault(rule: "cached-data-backed-up") {
            try $0.write(Data("a".utf8), to: "Library/Application Support/Images/Cache/1.jpg")
            try $0.write(Data("b".utf8), to: "Library/Application Support/Images/Cache/deep/2.jpg")
        },
        Fault(rule: "thumbnails-outside-caches") {
            try $0.write(Data("small".utf8), to: "Library/Application Support/Gallery/photo_thumb.jpg")
        },
        Fault(rule: "user-data-purgeable") {
            try $0.write(Data("my novel".utf8), to: "Library/Caches/Drafts/Novel.odt")
        },
        Fault(rule: "left-in-tmp") {
            try $0.write(Data("1".utf8), to: "tmp/export/one")
            try $0.write(Data("2".utf8), to: "tmp/export/two")
            try $0.age("tmp/export/one", days: 3)
            try $0.age("tmp/export/two", days: 3)
        },
        Fault(rule: "database-in-caches") {
            try $0.write(Data("SQLite format 3\0index".utf8), to: "Library/Caches/Index/store.data")
        },
        Fault(rule: "no-document") {
            try $0.write(Data("SQLite format 3\0...".utf8), to: "Documents/store.data")
        },
        Fault(rule: "log-among-documents") { try $0.write(Data("began".utf8), to: "Documents/debug.log") },
        Fault(rule: "settings-among-documents") {
            try $0.write(Data(#"{"theme":"dark"}"#.utf8), to: "Documents/settings.json")
        },
        Fault(rule: "machine-name-among-documents") {
            try $0.write(Data("holiday".utf8), to: "Documents/3f2a9c0d1e4b5a67.bin")
        },
        Fault(rule: "user-data-excluded") { try $0.mark(.exclude, "Documents/letter.txt") },
        Fault(rule: "excluded-unused") {
            try $0.write(Data("tiles".utf8), to: "Library/Application Support/Offline/tiles.bin")
            try $0.mark(.exclude, "Library/Application Support/Offline/tiles.bin")
            try $0.age("Library/Application Support/Offline/tiles.bin", days: 60)
        },
        Fault(rule: "excluded-one-by-one") {
            for number in 1...4 {
                let path = "Library/Application Support/org.example.app/Voices/\(number).bin"
                try $0.write(Data("voice \(number)".utf8), to: path)
                try $0.mark(.exclude, path)
            }
        },
        Fault(rule: "excluded-folder-name") {
            try $0.write(Data("level".utf8), to: "Library/Application Support/Levels/1.bin")
            try $0.mark(.exclude, "Library/Application Support/Levels")
        },
        Fault(rule: "absolute-path") {
            try $0.write(
                Data(#"{"last":"/var/mobile/Containers/Data/Application/1B/Documents/x"}"#.utf8),
                to: "Library/Application Support/state.json")
        },
        Fault(rule: "large-download-backed-up") {
            try $0.write(length: 16 << 20, to: "Library/Application Support/Cinema/Heat.mp4")
        },
        Fault(rule: "same-content-twice") {
            try $0.write(content("photo"), to: "Documents/Photo.txt")
            try $0.write(content("photo"), to: "Documents/Copies/Photo.txt")
        },
        Fault(rule: "diverged-copies") {
            try $0.write(Data("my plan".utf8), to: "Documents/Plan.pages")
            try $0.write(Data("my other plan".utf8), to: "Library/Application Support/Open/Plan.pages")
        },
        Fault(rule: "document-in-support") {
            try $0.write(Data("manual".utf8), to: "Library/Application Support/Imports/Manual.pdf")
        },
        Fault(rule: "empty-folder") {
            try FileManager.default.createDirectory(
                at: $0.url("Documents/New Folder/deep"), withIntermediateDirectories: true)
        },
    ]

    let container: SampleContainer

    init() async throws {
        container = try SampleContainer()
        try await container.use()
    }

    @Test func nothingIsWrongWithWhatTheCacheDoes() throws {
        #expect(try container.findings() == [])
    }

    @Test(arguments: faults) func aFaultIsFoundOnceUnderItsRuleAndNothingElseIs(_ fault: Fault) throws {
        try fault.plant(container)
        #expect(try container.findings().map(\.rule.name) == [fault.rule])
    }

    @Test func allFaultsAtOnceAreFoundOnceEach() throws {
        for fault in Self.faults { try fault.plant(container) }
        let settings = try settings("<key>UIFileSharingEnabled</key><false/>")
        let found = try container.findings(settings).map(\.rule.name)
        #expect(found.sorted() == (Self.faults.map(\.rule) + ["file-sharing"]).sorted())
    }

    @Test func everyRuleHasAFault() {
        let others = ["file-sharing", "documents-not-in-cloud"] + ManifestRuleTests.rules
        let tested = Set(Self.faults.map(\.rule) + others)
        #expect(tested == Set(StorageRules.infos.map(\.name)))
        #expect(StorageRules.infos.count == tested.count)
    }

    @Test func aCheckChangesNothing() throws {
        for fault in Self.faults { try fault.plant(container) }
        let before = try Photograph(of: container.root)
        _ = try container.findings()
        #expect(try Photograph(of: container.root) == before)
    }

    // MARK: Files in Documents and Info.plist

    @Test(
        arguments: [
            ("", 1), ("<key>UIFileSharingEnabled</key><true/>", 1),
            ("<key>LSSupportsOpeningDocumentsInPlace</key><true/>", 1),
            (
                "<key>UIFileSharingEnabled</key><true/><key>LSSupportsOpeningDocumentsInPlace</key><true/>",
                0
            ),
        ])
    func documentsHaveToBeWithinReach(_ keys: String, _ count: Int) throws {
        let found = try container.findings(try settings(keys))
        #expect(found.map(\.rule.name) == Array(repeating: "file-sharing", count: count))
    }

    @Test func withoutDocumentsNobodyNeedsToReachThem() throws {
        try FileManager.default.removeItem(at: container.url("Documents/letter.txt"))
        try FileManager.default.removeItem(at: container.url("Documents/Films"))
        #expect(try container.findings(try settings("")).map(\.rule.name) == ["ledger-entry-without-file"])
    }

    private func settings(_ keys: String) throws -> AppSettings {
        try container.write(
            Data("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>\(keys)</dict></plist>".utf8),
            to: "../\(container.root.lastPathComponent).plist")
        let file = container.root.deletingLastPathComponent()
            .appending(path: "\(container.root.lastPathComponent).plist")
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        return try AppSettings(at: FilePath(file.path), in: LiveFileSystem())
    }

    // MARK: What looks like a fault and is none

    @Test func youngTemporaryFilesAreWork() throws {
        try container.write(Data("1".utf8), to: "tmp/export")
        #expect(try container.findings() == [])
    }

    @Test func anExcludedFileThatWasReadLatelyIsInUse() throws {
        let path = "Library/Application Support/Offline/tiles.bin"
        try container.write(Data("tiles".utf8), to: path)
        try container.mark(.exclude, path)
        try container.age(path, days: 60)
        try Command.run("/usr/bin/touch", "-a", container.url(path).path)
        #expect(try container.findings() == [])
    }

    @Test func aHardLinkIsNoSecondCopy() throws {
        try FileManager.default.linkItem(
            at: container.url("Documents/Films/Film.txt"), to: container.url("Documents/Same.txt"))
        #expect(try container.findings() == [])
    }

    @Test func anItemOfWhichTheFileWasOpenedTwiceOverIsFound() async throws {
        // As a restored container has it: the cached copy came back.
        let item = ItemMetadata(key: "again", destination: .documents("Again.txt", backup: .include))
        let cache = try await container.cache()
        _ = try await cache.store(content("film"), as: item)
        try await cache.close()
        #expect(try container.findings().map(\.rule.name) == ["same-content-twice"])
    }

    @Test func theWorkOfALivingProcessIsNotAbandoned() async throws {
        let cache = try await container.cache()
        let metadata = ItemMetadata(key: "long", destination: .documents("Long.txt", backup: .include))
        guard case .writer(let writer) = try await cache.beginStoring(metadata, expectedLength: nil) else {
            throw SampleContainer.Unexpected()
        }
        _ = try await writer.write(content("long"))
        #expect(try container.findings() == [])
        #expect(try container.inventory().files.contains { $0.kind == .partial })
        try await writer.cancel()
        try await cache.close()
    }

    /// It is the user's, and advice to delete it would be the end of it.
    @Test func whatAPurgeHadMovedAsideIsNotAbandoned() throws {
        let name = "0123456789abcdef0123456789abcdef-0123456789abcdef-1.aside"
        let path = "Library/Application Support/PrefetchCache/staging/\(name)"
        try container.write(Data("my novel".utf8), to: path)
        try container.age(path, days: 2)
        #expect(try container.findings() == [])
    }

    @Test func whatADeadProcessLeftIsAbandoned() throws {
        let session = "0123456789abcdef"
        try container.write(Data("half".utf8), to: "Library/Caches/PrefetchCache/incoming/\(session)-1")
        try container.write(Data(), to: "Library/Caches/PrefetchCache/incoming/\(session).lock")
        let found = try container.findings()
        #expect(found.map(\.rule.name) == ["abandoned"])
        #expect(found.first?.path.lastComponent?.string == "\(session)-1")
    }
}
