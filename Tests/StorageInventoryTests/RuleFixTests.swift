import FileSystemTestSupport
import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

/// What a rule names as its fix makes the check clean, and nothing else is touched by it or by a repair.
@Suite struct RuleFixTests {
    /// What a rule says is to be done about what it found.
    struct Fix: Sendable {
        /// Words of the rule's own advice, so that what is done here is what it names.
        let advice: String
        /// The files of others that the fix is about.
        var touches: Set<String> = []
        var carryOut: @Sendable (SampleContainer) throws -> Void = { _ in }
    }

    private static let fixes: [String: Fix] = [
        "old-format": Fix(advice: "Open the cache once") { try cachectl(["stats"], $0) },
        "missing-cache-tag": Fix(advice: "Open the cache once") { try cachectl(["list"], $0) },
        "wrong-permissions": Fix(advice: "`chmod 700` it") {
            try Command.run("/bin/chmod", "700", $0.url("Library/Caches/PrefetchCache").path)
        },
        "ledger-entry-without-file": Fix(advice: "`cachectl forget` its key") {
            try cachectl(["forget", "film"], $0)
        },
        "exclusion-mark-lost": Fix(advice: "`cachectl repair` restores the mark") {
            try cachectl(["repair"], $0)
        },
        "abandoned": Fix(advice: "or delete it", touches: ["Library/Caches/PrefetchCache/items/old-index"]) {
            try remove("Library/Caches/PrefetchCache/items/old-index", $0)
        },
        "forgotten": Fix(
            advice: "let the app delete it",
            touches: [
                "Library/Application Support/com.oldsdk.Analytics/events.dat",
                "Library/Application Support/com.oldsdk.Analytics/queue/1.dat",
            ]
        ) { try remove("Library/Application Support/com.oldsdk.Analytics", $0) },
        "cached-data-backed-up": Fix(
            advice: "Move it to Caches",
            touches: [
                "Library/Application Support/Images/Cache/1.jpg",
                "Library/Application Support/Images/Cache/deep/2.jpg",
            ]
        ) { try move("Library/Application Support/Images", to: "Library/Caches/Images", $0) },
        "thumbnails-outside-caches": Fix(
            advice: "Move them to Caches",
            touches: ["Library/Application Support/Gallery/photo_thumb.jpg"]
        ) { try move("Library/Application Support/Gallery", to: "Library/Caches/Gallery", $0) },
        "user-data-purgeable": Fix(
            advice: "Move it to Documents", touches: ["Library/Caches/Drafts/Novel.odt"]
        ) {
            try move("Library/Caches/Drafts/Novel.odt", to: "Documents/Novel.odt", $0)
        },
        "left-in-tmp": Fix(advice: "Delete it", touches: ["tmp/export/one", "tmp/export/two"]) {
            try remove("tmp/export", $0)
        },
        "database-in-caches": Fix(
            advice: "move it to Application Support", touches: ["Library/Caches/Index/store.data"]
        ) { try move("Library/Caches/Index", to: "Library/Application Support/Index", $0) },
        "no-document": Fix(advice: "Move it to Application Support", touches: ["Documents/store.data"]) {
            try move("Documents/store.data", to: "Library/Application Support/store.data", $0)
        },
        "log-among-documents": Fix(advice: "Move it to Caches", touches: ["Documents/debug.log"]) {
            try move("Documents/debug.log", to: "Library/Caches/Logs/debug.log", $0)
        },
        "settings-among-documents": Fix(
            advice: "Move it to Application Support", touches: ["Documents/settings.json"]
        ) { try move("Documents/settings.json", to: "Library/Application Support/settings.json", $0) },
        "machine-name-among-documents": Fix(
            advice: "Give it the name that the user knows", touches: ["Documents/3f2a9c0d1e4b5a67.bin"]
        ) { try move("Documents/3f2a9c0d1e4b5a67.bin", to: "Documents/Holiday.bin", $0) },
        // The mark is no byte of the file.
        "user-data-excluded": Fix(advice: "Remove the mark") {
            try $0.mark(.include, "Documents/letter.txt")
        },
        "excluded-unused": Fix(
            advice: "The app has to delete it", touches: ["Library/Application Support/Offline/tiles.bin"]
        ) { try remove("Library/Application Support/Offline/tiles.bin", $0) },
        "excluded-one-by-one": Fix(advice: "mark that") {
            for number in 1...4 {
                try $0.mark(.include, "Library/Application Support/org.example.app/Voices/\(number).bin")
            }
            try $0.mark(.exclude, "Library/Application Support/org.example.app/Voices")
        },
        "excluded-folder-name": Fix(
            advice: "Rename it to the bundle identifier",
            touches: ["Library/Application Support/Levels/1.bin"]
        ) {
            let support = "Library/Application Support"
            try move("\(support)/Levels", to: "\(support)/org.example.levels", $0)
        },
        "absolute-path": Fix(
            advice: "Store the area and the path below it",
            touches: ["Library/Application Support/state.json"]
        ) {
            try $0.write(
                Data(#"{"last":{"area":"documents","path":"x"}}"#.utf8),
                to: "Library/Application Support/state.json")
        },
        "large-download-backed-up": Fix(advice: "Mark it") {
            try $0.mark(.exclude, "Library/Application Support/Cinema/Heat.mp4")
        },
        "same-content-twice": Fix(
            advice: "for another name a hard link will do", touches: ["Documents/Copies/Photo.txt"]
        ) {
            try remove("Documents/Copies/Photo.txt", $0)
            try FileManager.default.linkItem(
                at: $0.url("Documents/Photo.txt"), to: $0.url("Documents/Copies/Photo.txt"))
        },
        "diverged-copies": Fix(
            advice: "keep it in one place", touches: ["Library/Application Support/Open/Plan.pages"]
        ) { try remove("Library/Application Support/Open/Plan.pages", $0) },
        "document-in-support": Fix(
            advice: "Move it to Documents", touches: ["Library/Application Support/Imports/Manual.pdf"]
        ) { try move("Library/Application Support/Imports/Manual.pdf", to: "Documents/Manual.pdf", $0) },
        "empty-folder": Fix(advice: "Delete it") { try remove("Documents/New Folder", $0) },
    ]

    private static func cachectl(_ arguments: [String], _ container: SampleContainer) throws {
        let outcome = try BuiltTool.run(arguments, on: container)
        #expect(outcome.status == 0, "\(arguments): \(outcome.output)")
    }

    private static func remove(_ path: String, _ container: SampleContainer) throws {
        try FileManager.default.removeItem(at: container.url(path))
    }

    private static func move(_ path: String, to new: String, _ container: SampleContainer) throws {
        try FileManager.default.createDirectory(
            at: container.url(new).deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: container.url(path), to: container.url(new))
    }

    let container: SampleContainer

    init() async throws {
        container = try SampleContainer()
        try await container.use()
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

    private func expectFound(_ rules: [String], _ arguments: [String] = []) throws {
        let outcome = try BuiltTool.run(["inventory", "--check"] + arguments, on: container)
        #expect(outcome.status == (rules.isEmpty ? 0 : 1), "\(outcome.output)")
        let found = outcome.output.matches(of: /\[([a-z-]+)\]/).map { String($0.output.1) }
        #expect(found.sorted() == rules.sorted())
    }

    private func fix(_ rules: [String], _ arguments: [String] = [], except open: [String] = []) throws {
        let fixes = try rules.map { try #require(Self.fixes[$0], "\($0)") }
        let before = try foreignFiles()
        let isOpenable = !rules.contains("wrong-permissions")
        let repaired = try BuiltTool.run(["repair"], on: container)
        #expect((repaired.status == 0) == isOpenable, "\(repaired.output)")
        #expect(try foreignFiles() == before, "a repair touches nothing of others")

        if let permissions = Self.fixes["wrong-permissions"], !isOpenable {
            try permissions.carryOut(container)
        }
        for fix in fixes { try fix.carryOut(container) }
        try Self.cachectl(["repair"], container)
        try expectFound(open, arguments)
        let touched = fixes.reduce(into: Set<String>()) { $0.formUnion($1.touches) }
        let after = try foreignFiles()
        for (path, content) in before where !touched.contains(path) {
            #expect(after[path] == content, "\(path)")
        }
    }

    @Test(arguments: TestRun.sample(8, of: RuleTests.faults))
    func theFixThatARuleNamesMakesTheCheckClean(_ fault: RuleTests.Fault) throws {
        try fault.plant(container)
        try expectFound([fault.rule])
        try fix([fault.rule])
    }

    @Test func afterARepairAndAllFixesTheCheckIsClean() throws {
        for fault in RuleTests.faults { try fault.plant(container) }
        let plist = container.root.path + ".plist"
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: plist) } }
        let keys = "<key>UIFileSharingEnabled</key><true/><key>LSSupportsOpeningDocumentsInPlace</key>"
        try Data("<plist version=\"1.0\"><dict>\(keys)<false/></dict></plist>".utf8)
            .write(to: URL(filePath: plist))
        let rules = RuleTests.faults.map(\.rule)
        try expectFound(rules + ["file-sharing"], ["--plist", plist])
        try fix(rules, ["--plist", plist], except: ["file-sharing"])
        #expect(advice("file-sharing").contains("Set UIFileSharingEnabled and LSSupportsOpening"))
        try Data("<plist version=\"1.0\"><dict>\(keys)<true/></dict></plist>".utf8)
            .write(to: URL(filePath: plist))
        try expectFound([], ["--plist", plist])
    }

    /// A fault that nobody mends is still found after a repair, but for those that a repair is the fix of.
    @Test func aRepairAloneDoesNotMakeTheCheckClean() throws {
        let faults = RuleTests.faults.filter { $0.rule != "wrong-permissions" }
        for fault in faults { try fault.plant(container) }
        try Self.cachectl(["repair"], container)
        let mended: Set = ["old-format", "missing-cache-tag", "exclusion-mark-lost"]
        try expectFound(faults.map(\.rule).filter { !mended.contains($0) })
    }

    @Test func everyFixIsTheOneThatItsRuleNames() {
        for (rule, fix) in Self.fixes { #expect(advice(rule).contains(fix.advice), "\(rule)") }
        #expect(Set(Self.fixes.keys) == Set(RuleTests.faults.map(\.rule)))
    }

    private func advice(_ rule: String) -> String {
        StorageRules.infos.first { $0.name == rule }?.fix ?? ""
    }
}
