import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

@Suite struct ManifestRuleTests {
    let container: SampleContainer

    init() async throws {
        container = try SampleContainer()
        try await container.use()
    }

    /// Explains all that the container has, and more.
    static let text = """
        {
          "version": 1,
          "entries": [
            {
              "path": "Documents/**", "what": "texts", "why": "the user wrote them",
              "area": "documents", "backup": "include", "regenerable": false
            },
            {
              "path": "Library/Application Support/PrefetchCache/files/*", "what": "maps",
              "why": "they are used offline",
              "area": "support", "backup": "exclude", "regenerable": "download"
            },
            {
              "path": "Library/Preferences/*.plist", "what": "settings", "why": "the user chose them",
              "area": "other", "backup": "system", "regenerable": false
            },
            {
              "path": "**/*.story", "what": "stories", "why": "the user wrote them",
              "area": "documents", "backup": "system", "regenerable": false
            },
            {
              "path": "Library/Application Support/Art/**", "what": "covers", "why": "they are shown offline",
              "area": "support", "backup": "exclude", "regenerable": "download", "limit": "10 kB",
              "unusedFor": "60d"
            },
            {
              "path": "Library/Application Support/State/**", "what": "state", "why": "the app needs it",
              "area": "support", "backup": "include", "regenerable": false
            }
          ]
        }
        """

    /// Something that contradicts the manifest.
    struct Fault: Sendable, CustomTestStringConvertible {
        let rule: String
        /// What is reported.
        let path: String
        let plant: @Sendable (SampleContainer) throws -> Void

        var testDescription: String { "\(rule) \(path)" }
    }

    static let faults = [
        // T7
        Fault(rule: "misplaced", path: "Library/Application Support/a.story") {
            try $0.write(Data("text 1".utf8), to: "Library/Application Support/a.story")
        },
        Fault(rule: "misplaced", path: "Library/Application Support/Old") {
            try $0.write(Data("text 2".utf8), to: "Library/Application Support/Old/1/a.story")
            try $0.write(Data("text 3".utf8), to: "Library/Application Support/Old/2/b.story")
        },
        // T8, G0b
        Fault(rule: "backup-contradicts-manifest", path: "Library/Application Support/Art/a.jpg") {
            try $0.write(Data("text 4".utf8), to: "Library/Application Support/Art/a.jpg")
        },
        Fault(rule: "backup-contradicts-manifest", path: "Library/Application Support/State/s") {
            try $0.write(Data("text 5".utf8), to: "Library/Application Support/State/s")
            try $0.mark(.exclude, "Library/Application Support/State/s")
        },
        // G4e
        Fault(rule: "past-its-time", path: "Library/Application Support/Art/old") {
            for name in ["a.jpg", "b.jpg"] {
                let path = "Library/Application Support/Art/old/\(name)"
                try $0.write(Data(name.utf8), to: path)
                try $0.mark(.exclude, path)
                try $0.age(path, days: 61)
            }
        },
        // T1, T5, T6
        Fault(rule: "unexplained", path: "Library/Application Support/com.example.sdk") {
            try $0.write(Data("text 6".utf8), to: "Library/Application Support/com.example.sdk/a")
            try $0.write(Data("text 7".utf8), to: "Library/Application Support/com.example.sdk/deep/b")
        },
        Fault(rule: "unexplained", path: "Library/Application Support/unknown") {
            try $0.write(Data("text 8".utf8), to: "Library/Application Support/unknown")
        },
        // G0b
        Fault(rule: "over-limit", path: "Library/Application Support/Art/**") {
            for name in ["c.jpg", "d.jpg"] {
                let path = "Library/Application Support/Art/\(name)"
                try $0.write(content(name).prefix(6000), to: path)
                try $0.mark(.exclude, path)
            }
        },
    ]

    /// The rules that need a manifest.
    static let rules = Set(faults.map(\.rule)).sorted() + ["purpose-to-do"]

    private static var manifest: StorageManifest {
        get throws { try StorageManifest(parsing: Array(text.utf8), named: "storage.json") }
    }

    private func findings(_ text: String = Self.text) throws -> [Finding] {
        try container.findings(by: StorageManifest(parsing: Array(text.utf8), named: "storage.json"))
    }

    @Test func whatTheManifestExplainsIsClean() throws {
        #expect(try findings() == [])
    }

    @Test(arguments: faults) func aFaultIsFoundOnceUnderItsRuleAndNothingElseIs(_ fault: Fault) throws {
        try fault.plant(container)
        let found = try findings()
        #expect(found.map(\.rule.name) == [fault.rule])
        #expect(found.map(\.path.string) == [fault.path])
    }

    @Test(arguments: faults) func theFixThatARuleNamesMakesTheCheckClean(_ fault: Fault) throws {
        try fault.plant(container)
        let advice = try #require(StorageRules.infos.first { $0.name == fault.rule }).fix
        let files = FileManager.default
        switch fault.rule {
        case "misplaced":
            #expect(advice.hasPrefix("Move it"))
            try files.moveItem(at: container.url(fault.path), to: container.url("Documents/moved"))
        case "backup-contradicts-manifest":
            #expect(advice.hasPrefix("Mark it as excluded, or remove the mark"))
            try container.mark(fault.path.contains("/Art/") ? .exclude : .include, fault.path)
        case "past-its-time", "unexplained":
            #expect(advice.contains("elete it"))
            try files.removeItem(at: container.url(fault.path))
        default:
            #expect(advice.hasPrefix("Let the app delete what it can do without"))
            try files.removeItem(at: container.url("Library/Application Support/Art/c.jpg"))
        }
        #expect(try findings() == [])
    }

    /// What excludes a file may not be its own mark: then its own cannot be removed.
    @Test func theMarkOfAFolderIsNotSaidToBeRemoved() throws {
        try container.write(Data("text 5".utf8), to: "Library/Application Support/State/s")
        try container.mark(.exclude, "Library/Application Support/State")
        let file = container.root.path + ".json"
        try Data(Self.text.utf8).write(to: URL(filePath: file))
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: file) } }
        let outcome = try BuiltTool.run(
            ["inventory", "--check", "--manifest", file, "--fix-script"], on: container)
        #expect(outcome.output.contains("State/s: a folder above it, or its CACHEDIR.TAG, excludes it"))
        #expect(!outcome.output.contains("\ninclude '"))
    }

    @Test(arguments: faults) func withoutAManifestNothingIsHeldAgainstIt(_ fault: Fault) throws {
        try fault.plant(container)
        let rules = Set(try container.findings().map(\.rule.name))
        #expect(rules.isDisjoint(with: Self.rules))
    }

    @Test func allFaultsAtOnceAreFound() throws {
        for fault in Self.faults { try fault.plant(container) }
        let rules = try findings().map(\.rule.name)
        #expect(Set(rules) == Set(Self.faults.map(\.rule)))
    }

    @Test func aCheckChangesNothing() throws {
        for fault in Self.faults { try fault.plant(container) }
        let before = try Photograph(of: container.root)
        _ = try findings()
        #expect(try Photograph(of: container.root) == before)
    }

    @Test func whatTheFindingsSayIsEnoughToAct() throws {
        for fault in Self.faults { try fault.plant(container) }
        let messages = Set(try findings().map(\.message))
        for message in [
            "it is in support, but belongs in documents", "it is backed up, but must not be",
            "no backup has it, but backups must", "it has not been used for more than 60d",
            "12016 bytes are more than the limit of 10 kB",
        ] { #expect(messages.contains(message), "\(message)") }
    }

    // MARK: Which rule reports what

    /// The developer's word outweighs what a file looks like, but does not hide what is wrong with one that no entry
    /// explains.
    @Test func whatIsUnexplainedIsStillJudged() throws {
        try container.write(Data("my novel".utf8), to: "Library/Caches/Drafts/Novel.odt")
        #expect(try findings().map(\.rule.name) == ["user-data-purgeable", "unexplained"])
    }

    @Test func aMisplacedFileIsReportedOnce() throws {
        try container.write(Data("my story".utf8), to: "tmp/a.story")
        try container.age("tmp/a.story", days: 2)
        #expect(try findings().map(\.rule.name) == ["misplaced"])
    }

    @Test func filesOfTheCacheNeedNoEntry() throws {
        let empty = #"{"version": 1, "entries": []}"#
        let found = try findings(empty)
        #expect(Set(found.map(\.rule.name)) == ["unexplained"])
        #expect(
            Set(found.map(\.path.string)) == [
                "Documents/Films", "Documents/letter.txt",
                "Library/Application Support/PrefetchCache/files", "Library/Preferences",
            ])
    }

    /// It has a budget and purges itself: an entry for a folder around it is about the other files there.
    @Test func anEntryDoesNotJudgeWhatTheCacheKeepsForItself() throws {
        let text = Self.text.replacing(
            "\"entries\": [",
            with: """
                "entries": [
                {"path": "Library/**", "what": "x", "why": "x", "area": "tmp", "backup": "system",
                 "regenerable": "derive", "limit": "1 B", "unusedFor": "0s"},
                """)
        #expect(try findings(text) == [])
    }

    @Test func junkAmongTheCachesFilesIsOnlyAbandoned() throws {
        try container.write(Data("left".utf8), to: "Library/Caches/PrefetchCache/items/old-index")
        #expect(try findings().map(\.rule.name) == ["abandoned"])
    }

    @Test func aDraftThatStillSaysToDoIsNoted() throws {
        let text = Self.text.replacing("\"the user chose them\"", with: "\"TODO: why?\"")
        let found = try findings(text)
        #expect(found.map(\.rule.name) == ["purpose-to-do"])
        #expect(found.first?.path.string == "Library/Preferences/*.plist")
    }

    @Test func theTimeOfAnEntryTakesThePlaceOfTheOptions() throws {
        let path = "Library/Application Support/Art/a.jpg"
        try container.write(Data("a".utf8), to: path)
        try container.mark(.exclude, path)
        // Longer than the default of `--unused-for`, and shorter than the entry allows.
        try container.age(path, days: 45)
        #expect(try findings() == [])
        #expect(try container.findings().map(\.rule.name) == ["excluded-unused"])
    }

    @Test func aFileThatWasReadLatelyIsNotPastItsTime() throws {
        let path = "Library/Application Support/Art/a.jpg"
        try container.write(Data("a".utf8), to: path)
        try container.mark(.exclude, path)
        try container.age(path, days: 90)
        try Command.run("/usr/bin/touch", "-a", container.url(path).path)
        #expect(try findings() == [])
    }

    @Test func aFileWithTwoNamesCountsOnceAgainstALimit() throws {
        let path = "Library/Application Support/Art/a.jpg"
        try container.write(content("photo").prefix(6000), to: path)
        try container.mark(.exclude, path)
        try FileManager.default.linkItem(
            at: container.url(path), to: container.url("Library/Application Support/Art/b.jpg"))
        #expect(try findings() == [])
    }

    @Test func aSymbolicLinkNeedsAnEntryToo() throws {
        try FileManager.default.createSymbolicLink(
            atPath: container.url("Library/link").path, withDestinationPath: "Caches")
        let found = try findings()
        #expect(found.map(\.rule.name) == ["unexplained"])
        #expect(found.first?.path.string == "Library/link")
    }

    // MARK: Where paths begin

    /// One manifest serves for a container and for an app whose areas are apart from each other.
    @Test func theAreasOfAnAppHaveThePathsOfAContainer() throws {
        let root = FilePath(container.root.path)
        let home = root.appending("home")
        let files = ["Documents/a/letter.txt", "data/id/Art/a.jpg", "cache/id/x", "tmp/y"]
        for file in files { try container.write(Data(file.utf8), to: "home/\(file)") }
        let areas = try StorageAreas.container(at: home)
            .replacing(
                caches: home.appending("cache/id"), applicationSupport: home.appending("data/id"))
        let inventory = try FileInventory(
            of: InventoryPlace(areas: areas, container: nil), in: LiveFileSystem())
        #expect(
            Set(inventory.files.map { inventory.path(of: $0).string }) == [
                "Documents/a/letter.txt", "Library/Application Support/Art/a.jpg", "Library/Caches/x",
                "tmp/y",
            ])
        let options = Checkup.Options(now: .now, manifest: try Self.manifest)
        let found = Checkup.run(on: inventory, options, in: LiveFileSystem()).findings
        #expect(
            found.map { "\($0.rule.name) \($0.path)" } == [
                "backup-contradicts-manifest Library/Application Support/Art/a.jpg",
                "unexplained Library/Caches/x", "unexplained tmp/y",
            ])
    }

    @Test func everyAreaIsWhereAContainerHasIt() throws {
        for area in Area.allCases {
            let path = try #require(container.areas.path(of: area))
            #expect(path == FilePath(container.root.path).appending(area.folderInContainer.components))
        }
    }
}
