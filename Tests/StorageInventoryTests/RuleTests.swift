import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

private let support = "Library/Application Support"
private let iCloud = "Library/Mobile Documents"
private let cache = "Library/Caches/PrefetchCache"
private let uuid = "0F8FAD5B-D9CB-469F-A165-70867728950E"

/// What is wrong is found, what a rule names as its fix makes the check clean, and a repair touches nothing of others.
@Suite final class RuleTests: ContainerSuite {
    /// One for each rule. None disturbs another.
    static let faults: [Fault] = [
        Fault("old-format", [.t33, .t34], at: "Library/Caches", fix: cachectl("stats")) {
            try $0.setCatalogVersion(4)
        },
        Fault("missing-cache-tag", [.t25], at: "Library/Caches", fix: cachectl("list")) {
            try $0.remove("Library/Caches/CACHEDIR.TAG")
        },
        Fault(
            "wrong-permissions", at: cache, fix: { try Command.run("/bin/chmod", "700", $0.url(cache).path) }
        ) {
            try Command.run("/bin/chmod", "722", $0.url(cache).path)
        },
        Fault("ledger-entry-without-file", at: "Documents/Films/Film.txt", fix: cachectl("forget", "film")) {
            try $0.remove("Documents/Films")
        },
        Fault("exclusion-mark-lost", at: "\(support)/PrefetchCache/files/Map.txt", fix: cachectl("repair")) {
            try $0.mark(.include, "\(support)/PrefetchCache/files/Map.txt")
        },
        Fault("abandoned", [], "\(cache)/items/old-index"),
        Fault(
            "forgotten", [.t6], "\(support)/com.oldsdk.Analytics", ["a.dat", "queue/1", "Cache/2"], days: 200),
        Fault(
            "cached-data-backed-up", [.t24], "\(support)/Images/Cache", ["1.jpg", "deep/2.jpg"],
            belongsAt: "Library/Caches/Images"),
        Fault(
            "thumbnails-outside-caches", [.b2, .b3], "\(support)/Gallery/photo_thumb.jpg",
            belongsAt: "Library/Caches/Gallery/photo_thumb.jpg"),
        Fault(
            "user-data-purgeable", [.b8], "Library/Caches/Drafts/Novel.odt", belongsAt: "Documents/Novel.odt"),
        Fault("left-in-tmp", [.t29, .b7], "tmp/export", ["one", "album/two"], days: 3),
        Fault(
            "database-in-caches", [.b5], "Library/Caches/Index/store.data", text: "SQLite format 3\0index",
            belongsAt: "\(support)/Index/store.data"),
        Fault(
            "no-document", [.t19], "Documents/store.data", text: "SQLite format 3\0...",
            belongsAt: "\(support)/store.data"),
        Fault("log-among-documents", [.t18], "Documents/debug.log", belongsAt: "Library/Caches/debug.log"),
        Fault(
            "settings-among-documents", [.t13], "Documents/settings.json",
            belongsAt: "\(support)/settings.json"),
        Fault(
            "machine-name-among-documents", [.t10], "Documents/3f2a9c0d1e4b5a67.bin",
            belongsAt: "Documents/Holiday.bin"),
        Fault(
            "user-data-excluded", [.t8], at: "Documents/letter.txt",
            fix: { try $0.mark(.include, "Documents/letter.txt") }
        ) { try $0.mark(.exclude, "Documents/letter.txt") },
        Fault("excluded-unused", [.g4e], "\(support)/Offline/tiles.bin", days: 60, isMarked: true),
        Fault(
            "excluded-one-by-one", [.b13], "\(support)/org.example.app/Voices", ["1", "2", "3", "4"],
            isMarked: true
        ) {
            for number in 1...4 { try $0.mark(.include, "\(support)/org.example.app/Voices/\(number)") }
            try $0.mark(.exclude, "\(support)/org.example.app/Voices")
        },
        Fault(
            "excluded-folder-name", [.b14], at: "\(support)/Levels",
            fix: { try $0.move("\(support)/Levels", to: "\(support)/org.example.levels") }
        ) {
            try $0.write(to: "\(support)/Levels/1.bin")
            try $0.mark(.exclude, "\(support)/Levels")
        },
        Fault(
            "absolute-path", [.b6], "\(support)/state.json",
            text: #"{"last":"/var/mobile/Containers/Data/Application/1B/Documents/x"}"#
        ) { try $0.write(#"{"last":{"area":"documents","path":"x"}}"#, to: "\(support)/state.json") },
        Fault(
            "large-download-backed-up", [.b9], at: "\(support)/Cinema/Heat.mp4",
            fix: { try $0.mark(.exclude, "\(support)/Cinema/Heat.mp4") }
        ) { try $0.write(length: 16 << 20, to: "\(support)/Cinema/Heat.mp4") },
        Fault(
            "same-content-twice", [.t35], at: "Documents/Copies/Photo.txt",
            fix: {
                try $0.remove("Documents/Copies/Photo.txt")
                try $0.link("Documents/Photo.txt", to: "Documents/Copies/Photo.txt")
            }
        ) {
            for path in ["Documents/Photo.txt", "Documents/Copies/Photo.txt"] {
                try $0.write(content("photo"), to: path)
            }
        },
        Fault(
            "diverged-copies", [.t35], at: "Documents/Plan.pages", fix: { try $0.remove("\(support)/Open") }
        ) {
            for folder in ["Documents", "\(support)/Open"] { try $0.write(to: "\(folder)/Plan.pages") }
        },
        Fault(
            "document-in-support", [.t7, .t31], "\(support)/Imports/Manual.pdf",
            belongsAt: "Documents/Manual.pdf"),
        Fault("empty-folder", at: "Documents/New Folder") {
            try $0.createFolder("Documents/New Folder/deep")
        },
    ]

    /// The same in other forms, and what would disturb others.
    private static let variants: [Fault] = [
        Fault("forgotten", [.t43], "\(support)/downloads-v1.bin", days: 400),
        Fault("document-in-support", [.t31], "\(support)/Projects/Logo.psd"),
        Fault("user-data-excluded", [.t8], "Documents/Tax.numbers", isMarked: true),
        Fault("user-data-excluded", [.g4b], "\(support)/Drawings/House.procreate", isMarked: true),
        Fault("user-data-excluded", [.b10], "Documents/Comics/Akira.cbz", isMarked: true),
        Fault("documents-not-in-cloud", [.t9, .t36], at: "Documents") {
            try $0.write(to: "\(iCloud)/Shared.pages")
        },
        Fault("machine-name-among-documents", [.t10], at: "\(iCloud)/\(uuid).jpg") {
            try $0.remove("Documents/letter.txt")
            try $0.write(to: "\(iCloud)/\(uuid).jpg")
        },
        Fault("settings-among-documents", [.t13], "Documents/org.example.app.plist"),
        Fault("log-among-documents", [.t18], "Documents/Logs/app.log.1"),
        Fault("no-document", [.g1], "Documents/Episode 7.mp3.part"),
        Fault("cached-data-backed-up", [.g2], "\(support)/Map/cache", ["7/64/42.png"]),
        Fault("left-in-tmp", [.t28, .g3], "tmp/upload.zip", days: 2),
        Fault("old-format", [.t33, .t34], at: "Library/Caches") { try $0.setCatalogVersion(3) },
        Fault("diverged-copies", [.t35], at: "Documents/Essay.md") {
            try $0.remove("Documents/letter.txt")
            try $0.write("draft", to: "Documents/Essay.md")
            try $0.write("final", to: "\(iCloud)/Essay.md")
        },
        Fault("large-download-backed-up", [.g0b], at: "\(support)/Models/voice.onnx") {
            try $0.write(length: 20 << 20, to: "\(support)/Models/voice.onnx")
        },
        Fault("large-download-backed-up", [.b1], at: "Documents/Lecture.mp4") {
            try $0.write(length: 17 << 20, to: "Documents/Lecture.mp4")
            try $0.setAttribute(
                "user.xdg.origin.url", "https://example.org/1".utf8, of: "Documents/Lecture.mp4")
        },
        Fault("excluded-unused", [.g4e], "Documents/Holiday.mov", days: 40, isMarked: true),
        Fault("thumbnails-outside-caches", [.b2], "Documents/Photos/IMG_1_thumb.jpg"),
        Fault("thumbnails-outside-caches", [.b3], "\(support)/Thumbnails", ["1", "large/2"]),
        Fault("thumbnails-outside-caches", [.b4], "Library/Gallery/cover-thumbnail.png"),
        Fault("excluded-one-by-one", [.b13], "\(support)/Regions", ["1", "2", "3", "4"], isMarked: true),
        Fault("excluded-folder-name", [.b14], at: "Library/Offline") {
            try $0.write(to: "Library/Offline/1.map")
            try $0.mark(.exclude, "Library/Offline")
        },
        Fault("machine-name-among-documents", [], "Documents/\(uuid.lowercased())"),
        Fault("machine-name-among-documents", [], "Documents/0123456789ABCDEF"),
        Fault("machine-name-among-documents", [], "Documents/d41d8cd98f00b204e9800998ecf8427e.pdf"),
        Fault("user-data-excluded", [], "Documents/Notes.md", isMarked: true),
        Fault("user-data-excluded", [], "\(support)/Books/Emma.epub", isMarked: true),
        Fault("user-data-excluded", [], "Library/Sketches/House.psd", isMarked: true),
        // The user sees one document.
        Fault("user-data-excluded", at: "Documents/Novel.pages", files: 2) {
            for name in ["1", "2"] { try $0.write(to: "Documents/Novel.pages/\(name)") }
            try $0.mark(.exclude, "Documents/Novel.pages")
        },
        Fault("user-data-purgeable", [], "Library/Caches/Drafts/Novel.pages", ["Index.zip", "Data/1.db"]),
        Fault("document-in-support", [], "\(support)/Drafts/Novel.pages", ["Index.zip", "Data/1.db"]),
        Fault("no-document", [], "Documents/Store", ["CURRENT", "MANIFEST-000001", "000003.ldb"]),
        Fault("no-document", [], "Documents/app.cblite2", ["db.sqlite3", "Attachments/1.blob"]),
        Fault("no-document", at: "Documents/library.sqlite", files: 3) {
            for ending in ["", "-wal", "-shm"] { try $0.write(to: "Documents/library.sqlite\(ending)") }
        },
        Fault("no-document", at: "Documents/default.realm", files: 2) {
            for ending in ["", ".lock"] { try $0.write(to: "Documents/default.realm\(ending)") }
        },
        Fault("database-in-caches", at: "Library/Caches/Library.data", files: 3) {
            try $0.write("SQLite format 3\0", to: "Library/Caches/Library.data")
            for ending in ["-wal", "-shm"] { try $0.write(to: "Library/Caches/Library.data\(ending)") }
        },
    ]

    /// What is said of the app's code, its `Info.plist`, its developer or the system.
    private static let notAboutFiles: Set<Statement> = [
        .t1, .t2, .t3, .t4, .t5, .t11, .t12, .t14, .t15, .t16, .t17, .t20, .t21, .t22, .t23, .t26, .t27, .t30,
        .t32, .t37, .t38, .t39, .t40, .t41, .t42, .g0a, .g4a, .g4c, .g4d, .b11, .b12,
    ]

    @Test func nothingIsWrongWithWhatTheCacheDoes() throws {
        #expect(try found() == [])
    }

    @Test(arguments: faults + variants) func aFaultIsFoundOnceUnderItsRuleAndNothingElseIs(_ fault: Fault)
        throws
    {
        try fault.plant(container)
        let found = try container.findings()
        #expect(found.map(\.rule.name) == [fault.rule])
        #expect(found.map(\.path.string) == [fault.path])
        #expect(found.first?.files == fault.files ?? found.first?.files)
        #expect(found.first.map { fault.statements.isSubset(of: $0.rule.statements) } == true)
    }

    @Test func everyRuleHasAFaultAndEveryStatementThatAFileCanBreakIsBroken() {
        let others = ["file-sharing", "documents-not-in-cloud"] + ManifestRuleTests.rules
        #expect(Set(Self.faults.map(\.rule) + others) == Set(StorageRules.infos.map(\.name)))
        #expect(StorageRules.infos.count == Self.faults.count + others.count)
        let broken = (Self.faults + Self.variants).reduce(into: Set()) { $0.formUnion($1.statements) }
        #expect(broken == Set(Statement.allCases).subtracting(Self.notAboutFiles))
        #expect(broken == Set(StorageRules.infos.flatMap(\.statements)).subtracting(Self.notAboutFiles))
    }

    @Test func statementsAreThoseOfTheGuidelines() {
        let talk = (1...43).map { "T\($0)" }
        let guidelines = ["G0a", "G0b", "G1", "G2", "G3", "G4a", "G4b", "G4c", "G4d", "G4e"]
        #expect(Statement.allCases.map(\.id) == talk + guidelines + (1...14).map { "B\($0)" })
        #expect(Statement.allCases.allSatisfy { $0.text.hasSuffix(".") || $0.text.hasSuffix("?") })
    }

    @Test func aCheckChangesNothing() throws {
        for fault in Self.faults + ManifestRuleTests.faults { try fault.plant(container) }
        let before = try Photograph(of: container.root)
        _ = try container.findings(by: ManifestRuleTests.manifest)
        #expect(try Photograph(of: container.root) == before)
    }

    // MARK: Fixes

    private func expectFound(_ rules: [String], _ arguments: [String] = []) throws {
        let outcome = try BuiltTool.run(["inventory", "--check"] + arguments, on: container)
        #expect(outcome.status == (rules.isEmpty ? 0 : 1), "\(outcome.output)")
        let found = outcome.output.matches(of: /\[([a-z-]+)\]/).map { String($0.output.1) }
        #expect(found.sorted() == rules.sorted())
    }

    /// The bytes of all files that are not the cache's, by their paths.
    private func foreignFiles() throws -> [String: Data] {
        let inventory = try container.inventory()
        var files: [String: Data] = [:]
        for file in inventory.files where file.kind == .foreign {
            let path = inventory.path(of: file).string
            files[path] = try Data(contentsOf: container.url(path))
        }
        return files
    }

    private func repair(succeeds: Bool = true) throws {
        let before = try foreignFiles()
        let repaired = try BuiltTool.run(["repair"], on: container)
        #expect((repaired.status == 0) == succeeds, "\(repaired.output)")
        #expect(try foreignFiles() == before, "a repair touches nothing of others")
    }

    private func fix(_ faults: [Fault]) throws {
        let permissions = faults.filter { $0.rule == "wrong-permissions" }
        try repair(succeeds: permissions.isEmpty)
        for fault in permissions + faults { try fault.fix(container) }
        try repair()
    }

    @Test func afterARepairAndAllFixesTheCheckIsClean() throws {
        for fault in Self.faults { try fault.plant(container) }
        let plist = try plist(sharing: true, inPlace: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: plist) } }
        try expectFound(Self.faults.map(\.rule) + ["file-sharing"], ["--plist", plist])
        try fix(Self.faults)
        try expectFound(["file-sharing"], ["--plist", plist])
        _ = try self.plist(sharing: true, inPlace: true)
        try expectFound([], ["--plist", plist])
    }

    /// A fault that nobody mends is still found after a repair, but for those that a repair is the fix of.
    @Test func aRepairAloneDoesNotMakeTheCheckClean() throws {
        let faults = Self.faults.filter { $0.rule != "wrong-permissions" }
        for fault in faults { try fault.plant(container) }
        // Nothing reads the files, which would be a use of them.
        try cachectl("repair")(container)
        let mended: Set = ["old-format", "missing-cache-tag", "exclusion-mark-lost"]
        try expectFound(faults.map(\.rule).filter { !mended.contains($0) })
    }

    // MARK: Files in Documents and Info.plist

    private func plist(sharing: Bool?, inPlace: Bool?) throws -> String {
        let settings = ["UIFileSharingEnabled": sharing, "LSSupportsOpeningDocumentsInPlace": inPlace]
        let path = container.root.path + ".plist"
        try PropertyListSerialization.data(
            fromPropertyList: settings.compactMapValues(\.self), format: .xml, options: 0
        ).write(to: URL(filePath: path))
        return path
    }

    private func found(sharing: Bool?, inPlace: Bool?) throws -> [String] {
        let path = try plist(sharing: sharing, inPlace: inPlace)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) } }
        let settings = try AppSettings(at: FilePath(path), in: LiveFileSystem())
        return try container.findings(settings).map(\.rule.name)
    }

    @Test(arguments: [(nil, nil), (true, nil), (false, true), (true, true)] as [(Bool?, Bool?)])
    func documentsHaveToBeWithinReach(_ sharing: Bool?, _ inPlace: Bool?) throws {
        let isReached = sharing == true && inPlace == true
        #expect(try found(sharing: sharing, inPlace: inPlace) == (isReached ? [] : ["file-sharing"]))
    }

    @Test func withoutDocumentsNobodyNeedsToReachThem() throws {
        try container.remove("Documents/letter.txt")
        try container.remove("Documents/Films")
        #expect(try found(sharing: nil, inPlace: nil) == ["ledger-entry-without-file"])
    }
}
