import Foundation
import PrefetchCaching
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import StorageInventory

private let support = "Library/Application Support"

@Suite final class ManifestRuleTests: ContainerSuite {
    /// Explain all that the container has, and more.
    private static var entries: [StorageManifest.Entry] {
        get throws {
            var art = try StorageManifest.Entry.sample(
                "\(support)/Art/**", area: .applicationSupport, backup: .exclude, regenerable: .download)
            art.limit = .init(text: "10 kB", value: try ByteSize.parse("10 kB"))
            art.unusedFor = .init(text: "60d", value: try Lifetime("60d"))
            return [
                try .sample("Documents/**", backup: .include),
                try .sample(
                    "\(support)/PrefetchCache/files/*", area: .applicationSupport, backup: .exclude,
                    regenerable: .download),
                try .sample("Library/Preferences/*.plist", area: nil), try .sample("**/*.story"), art,
                try .sample("\(support)/State/**", area: .applicationSupport, backup: .include),
            ]
        }
    }

    static let faults: [Fault] = [
        Fault("misplaced", [.t7], "\(support)/a.story", belongsAt: "Documents/b"),
        Fault("misplaced", [.t7], "\(support)/Old", ["1/a.story", "2/b.story"], belongsAt: "Documents/Old"),
        Fault("backup-contradicts-manifest", [.t8, .g0b], "\(support)/Art/a.jpg") {
            try $0.mark(.exclude, "\(support)/Art/a.jpg")
        },
        Fault("backup-contradicts-manifest", [.t8, .g0b], "\(support)/State/s", isMarked: true) {
            try $0.mark(.include, "\(support)/State/s")
        },
        Fault("past-its-time", [.g4e], "\(support)/Art/old", ["a.jpg", "b.jpg"], days: 61, isMarked: true),
        Fault("unexplained", [.t1, .t5, .t6], "\(support)/com.example.sdk", ["a", "deep/b"]),
        Fault("unexplained", [.t1, .t5, .t6], "\(support)/unknown"),
        Fault(
            "over-limit", [.g0b], at: "\(support)/Art/**", files: 2,
            fix: { try $0.remove("\(support)/Art/c.jpg") }
        ) {
            for name in ["c.jpg", "d.jpg"] {
                try $0.write(content(name).prefix(6000), to: "\(support)/Art/\(name)")
                try $0.mark(.exclude, "\(support)/Art/\(name)")
            }
        },
    ]

    /// The rules that need a manifest.
    static let rules = Set(faults.map(\.rule)).sorted() + ["purpose-to-do"]

    static var manifest: StorageManifest {
        get throws { StorageManifest(app: nil, entries: try entries) }
    }

    private func findings(_ entries: [StorageManifest.Entry]? = nil) throws -> [Finding] {
        try container.findings(by: StorageManifest(app: nil, entries: try entries ?? Self.entries))
    }

    override func found() throws -> [String] { try findings().map(\.rule.name) }

    @Test func whatTheManifestExplainsIsClean() throws {
        #expect(try found() == [])
    }

    @Test(arguments: faults) func aFaultIsFoundOnceAndItsFixMakesTheCheckClean(_ fault: Fault) throws {
        try fault.plant(container)
        let found = try findings()
        #expect(found.map(\.rule.name) == [fault.rule])
        #expect(found.map(\.path.string) == [fault.path])
        #expect(found.first?.files == fault.files)
        #expect(found.first.map { fault.statements.isSubset(of: $0.rule.statements) } == true)
        #expect(try container.found().allSatisfy { !Self.rules.contains($0) }, "without a manifest")
        try fault.fix(container)
        #expect(try findings() == [])
    }

    @Test func allFaultsAtOnceAreFoundAndSayEnoughToAct() throws {
        for fault in Self.faults { try fault.plant(container) }
        let findings = try findings()
        #expect(Set(findings.map(\.rule.name)) == Set(Self.faults.map(\.rule)))
        for message in [
            "it is in support, but belongs in documents", "it is backed up, but must not be",
            "no backup has it, but backups must", "it has not been used for more than 60d",
            " bytes are more than the limit of 10 kB",
        ] { #expect(findings.contains { $0.message.contains(message) }, "\(message)") }
    }

    /// What excludes a file may not be its own mark: then its own cannot be removed.
    @Test func theMarkOfAFolderIsNotSaidToBeRemoved() throws {
        try write(to: "\(support)/State/s")
        try container.mark(.exclude, "\(support)/State")
        let inventory = try container.inventory()
        let found = Checkup.run(
            on: inventory, .init(now: .now, manifest: try Self.manifest), in: LiveFileSystem()
        ).findings
        let bytes = try FixScript.text(for: found, of: inventory, in: LiveFileSystem())
        let script = String(decoding: bytes, as: UTF8.self)
        #expect(script.contains("State/s: a folder above it, or its CACHEDIR.TAG, excludes it"))
        #expect(!script.contains("\ninclude '"))
    }

    // MARK: Which rule reports what

    /// The developer's word outweighs what a file looks like, but does not hide what is wrong with one that no entry
    /// explains.
    @Test func whatIsUnexplainedIsStillJudged() throws {
        try write("my novel", to: "Library/Caches/Drafts/Novel.odt")
        #expect(try found() == ["user-data-purgeable", "unexplained"])
    }

    @Test func aMisplacedFileIsReportedOnce() throws {
        try write("my story", to: "tmp/a.story", days: 2)
        #expect(try found() == ["misplaced"])
    }

    @Test func filesOfTheCacheNeedNoEntry() throws {
        let found = try findings([])
        #expect(Set(found.map(\.rule.name)) == ["unexplained"])
        #expect(
            Set(found.map(\.path.string)) == [
                "Documents/Films", "Documents/letter.txt", "\(support)/PrefetchCache/files",
                "Library/Preferences",
            ])
    }

    /// It has a budget and purges itself: an entry for a folder around it is about the other files there.
    @Test func anEntryDoesNotJudgeWhatTheCacheKeepsForItself() throws {
        var all = try StorageManifest.Entry.sample("Library/**", area: .temporary, regenerable: .derive)
        all.limit = .init(text: "1 B", value: .bytes(1))
        all.unusedFor = .init(text: "0s", value: try Lifetime("0s"))
        #expect(try findings([all] + Self.entries) == [])
    }

    @Test func junkAmongTheCachesFilesIsOnlyAbandoned() throws {
        try write("left", to: "Library/Caches/PrefetchCache/items/old-index")
        #expect(try found() == ["abandoned"])
    }

    @Test func aDraftThatStillSaysToDoIsNoted() throws {
        var entries = try Self.entries
        entries[2].what = "TODO: what?"
        let found = try findings(entries)
        #expect(found.map { "\($0.rule.name) \($0.path)" } == ["purpose-to-do Library/Preferences/*.plist"])
    }

    @Test func theTimeOfAnEntryTakesThePlaceOfTheOptions() throws {
        // Longer than the default of `--unused-for`, and shorter than the entry allows.
        try write("a", to: "\(support)/Art/a.jpg", days: 45, isMarked: true)
        #expect(try found() == [])
        #expect(try container.found() == ["excluded-unused"])
    }

    @Test func aFileThatWasReadLatelyIsNotPastItsTime() throws {
        try write("a", to: "\(support)/Art/a.jpg", days: 90, isMarked: true)
        try Command.run("/usr/bin/touch", "-a", container.url("\(support)/Art/a.jpg").path)
        #expect(try found() == [])
    }

    @Test func aFileWithTwoNamesCountsOnceAgainstALimit() throws {
        try container.write(content("photo").prefix(6000), to: "\(support)/Art/a.jpg")
        try container.mark(.exclude, "\(support)/Art/a.jpg")
        try container.link("\(support)/Art/a.jpg", to: "\(support)/Art/b.jpg")
        #expect(try found() == [])
    }

    @Test func aSymbolicLinkNeedsAnEntryToo() throws {
        try FileManager.default.createSymbolicLink(
            atPath: container.url("Library/link").path, withDestinationPath: "Caches")
        #expect(try findings().map { "\($0.rule.name) \($0.path)" } == ["unexplained Library/link"])
    }

    // MARK: Where paths begin

    /// One manifest serves for a container and for an app whose areas are apart from each other.
    @Test func theAreasOfAnAppHaveThePathsOfAContainer() throws {
        let home = FilePath(container.root.path).appending("home")
        for file in ["Documents/id/a/letter.txt", "data/id/Art/a.jpg", "cache/id/x", "tmp/id/y"] {
            try write(to: "home/\(file)")
        }
        let areas = try StorageAreas.application(
            id: "id",
            environment: [
                "HOME": home.string, "XDG_DATA_HOME": "\(home)/data", "XDG_CACHE_HOME": "\(home)/cache",
                "TMPDIR": "\(home)/tmp",
            ])
        let inventory = try FileInventory(
            of: InventoryPlace(areas: areas, container: nil), in: LiveFileSystem())
        #expect(
            Set(inventory.files.map { inventory.path(of: $0).string }) == [
                "Documents/a/letter.txt", "\(support)/Art/a.jpg", "Library/Caches/x", "tmp/y",
            ])
        let options = Checkup.Options(now: .now, manifest: try Self.manifest)
        let found = Checkup.run(on: inventory, options, in: LiveFileSystem()).findings
        #expect(
            found.map { "\($0.rule.name) \($0.path)" } == [
                "backup-contradicts-manifest \(support)/Art/a.jpg", "unexplained Library/Caches/x",
                "unexplained tmp/y",
            ])
    }

    @Test func everyAreaIsWhereAContainerHasIt() throws {
        for area in Area.allCases {
            let path = try #require(container.areas.path(of: area))
            #expect(path == FilePath(container.root.path).appending(area.folderInContainer.components))
        }
    }
}
