import PrefetchFileSystem
import PrefetchStorageAreas
import SystemPackage
import Testing

@Suite struct AreaTests {
    @Test func rawValuesAreThoseOnDisk() {
        let stored: [UInt8: Area] = [
            1: .documents, 2: .applicationSupport, 3: .caches, 4: .temporary, 5: .iCloudDrive,
        ]
        for raw in UInt8.min...UInt8.max {
            #expect(Area(rawValue: raw) == stored[raw])
        }
    }

    @Test func anAreaIsFoundByItsNameOnTheCommandLine() {
        let names = ["documents", "support", "caches", "tmp", "icloud"]
        #expect(Area.allCases.map(\.name) == names)
        #expect(names.map(Area.init(name:)) == Area.allCases)
        for name in ["", "Documents", "cache", "caches ", "applicationSupport"] {
            #expect(Area(name: name) == nil)
        }
    }
}

@Suite struct AreaPromiseTests {
    /// Whether it is backed up, purged, visible to the user, and counted in "Documents & Data".
    @Test(
        arguments: [
            (.documents, .backedUp, .never, true, true),
            (.applicationSupport, .backedUp, .never, false, true),
            (.caches, .notBackedUp, .whenSpaceIsLow, false, false),
            (.temporary, .notBackedUp, .periodically, false, false),
            (.iCloudDrive, .uploaded, .never, true, nil),
        ] as [(Area, AreaPromise.Backup, AreaPromise.Purge, Bool, Bool?)])
    func everyAreaHasItsPromise(
        area: Area, backup: AreaPromise.Backup, purge: AreaPromise.Purge, isVisible: Bool, isCounted: Bool?
    ) {
        #expect(area.promise.backup == backup)
        #expect(area.promise.purge == purge)
        #expect(area.promise.isVisibleToUser == isVisible)
        #expect(area.promise.isCountedInDocumentsAndData == isCounted)
    }
}

@Suite struct AreaPathTests {
    @Test(arguments: [
        ("film.mp4", "film.mp4"), ("a/b/c", "a/b/c"), ("./a/./b/.", "a/b"), ("a//b/", "a/b"),
        ("..a/b..", "..a/b.."), ("...", "..."),
    ])
    func onePathHasOneForm(_ given: String, _ stored: String) throws {
        let path = try #require(AreaPath(area: .documents, relative: FilePath(given)))
        #expect(path.relative.string == stored)
        #expect(path.area == .documents)
    }

    @Test(arguments: ["", ".", "./.", "/", "/a", "..", "../a", "a/..", "a/../b", "a/b/../../.."])
    func aPathThatIsNoneOrLeavesItsAreaIsRefused(_ given: String) {
        #expect(AreaPath(area: .documents, relative: FilePath(given)) == nil)
    }

    @Test func theSamePathInAnotherAreaIsAnotherFile() {
        let paths = Area.allCases.map { AreaPath(area: $0, relative: "a") }
        #expect(Set(paths).count == Area.allCases.count)
    }
}

@Suite struct ApplicationIDTests {
    @Test(arguments: ["a", "org.example.App-2_0", "_x", "9", "a..b", String(repeating: "a", count: 255)])
    func aHarmlessFolderNameIsAnID(_ id: String) throws {
        let areas = try StorageAreas.application(id: id, environment: ["HOME": "/home/u"])
        #expect(areas.caches.string == "/home/u/.cache/\(id)")
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "-rf", "a/b", "../a", "a b", "a\0", "a\n", "é", "a\u{301}", "a:b", "a\\b",
        String(repeating: "a", count: 256),
    ])
    func anythingElseIsRefusedBeforeAnyFileIsRead(_ id: String) {
        #expect(throws: StorageAreasError.invalidApplicationID(id)) {
            try StorageAreas.application(id: id, environment: [:])
        }
    }
}

@Suite struct StorageAreasErrorTests {
    @Test(arguments: [
        (StorageAreasError.invalidApplicationID("a\u{1B}[31m\u{202E}"), "org.example.podcasts"),
        (.homeMissing, "set HOME"),
        (.homeMissing, "XDG_CACHE_HOME"),
        (
            .userDirectoriesUnreadable(FileSystemError("open", path: "/u", errno: .ioError)),
            "repair or remove"
        ),
        (.emptyContainerPath, "specify a folder"),
        (.workingDirectoryMissing, "absolute path"),
        (.notADirectory("/f"), "/f"),
        (.containerUnreadable(FileSystemError("open", path: "/f", errno: .permissionDenied)), "permissions"),
        (.areaUnavailable(.caches), "caches"),
    ])
    func theDescriptionSaysWhatToDo(_ error: StorageAreasError, _ advice: String) {
        #expect(error.description.contains(advice))
        #expect(!error.description.contains("\n"))
    }

    @Test func anIDThatIsQuotedCannotControlTheTerminal() {
        let error = StorageAreasError.invalidApplicationID("a\u{1B}[31m\n")
        #expect(!error.description.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
}
