import SystemPackage
import Testing

@testable import PrefetchStorageAreas

@Suite struct DestinationTests {
    private let name = FileName(sanitizing: "film.mp4")

    @Test func anItemIsNotBackedUpUnlessTheCallerSaysOtherwise() {
        #expect(Destination.documents(name).backup == .exclude)
        #expect(Destination.applicationSupport(name).backup == .exclude)
        #expect(Destination.documents(name, backup: .include).backup == .include)
        #expect(Destination.applicationSupport(name, backup: .include).backup == .include)
        #expect(Destination(area: .iCloudDrive, name: name)?.backup == .include)
    }

    /// Where a file goes, by its area, its folder and its policy.
    @Test func whatBackupsExcludeIsInOneFolder() throws {
        let areas = try StorageAreas.container(at: "/container" as FilePath)
        let long = try FolderPath(Array(repeating: name, count: FolderPath.maximumDepth))
        for (folder, backup, place) in [
            (nil, BackupPolicy.exclude, "org.example.app"), ("Maps", .exclude, "org.example.app/Maps"),
            ("org.example.app/Maps", .exclude, "org.example.app/Maps"),
            ("org.example.app.other", .exclude, "org.example.app/org.example.app.other"),
            (nil, .include, nil), ("Maps", .include, "Maps"), ("org.example.app", .include, nil),
            ("org.example.app/Maps", .include, "Maps"), (long, .exclude, long),
        ] as [(FolderPath?, BackupPolicy, FolderPath?)] {
            for destination in [
                Destination.documents(name, in: folder, backup: backup),
                .applicationSupport(name, in: folder, backup: backup),
            ] {
                #expect(areas.excluding(into: "org.example.app").folder(for: destination) == place)
                #expect(areas.folder(for: destination) == folder)
            }
        }
        let uploaded = Destination.iCloudDrive(name, in: "org.example.app")
        #expect(areas.excluding(into: "org.example.app").folder(for: uploaded) == "org.example.app")
    }

    /// As Documents is on Linux.
    @Test func anAreaOfTheAppsNameGetsNoSecondFolderOfThatName() throws {
        let areas = try StorageAreas.container(at: FilePath("/nowhere/org.example.app"))
        let named = StorageAreas(
            documents: "/home/user/Documents/org.example.app", applicationSupport: areas.applicationSupport,
            caches: areas.caches, temporary: areas.temporary, iCloudDrive: nil,
            excludedFolder: "org.example.app")
        let name: FileName = "Map.bin"
        #expect(named.folder(for: .documents(name, backup: .exclude)) == "Downloads")
        #expect(named.folder(for: .applicationSupport(name, backup: .exclude)) == "org.example.app")
        // Where earlier versions put it.
        #expect(
            named.folder(for: .documents(name, in: "org.example.app", backup: .exclude)) == "org.example.app")
        #expect(named.isExcludedFolder("org.example.app", in: .documents))
        #expect(named.isExcludedFolder("Downloads", in: .documents))
        #expect(!areas.excluding(into: "org.example.app").isExcludedFolder("Downloads", in: .documents))
    }

    @Test func anAppHasAFolderOfItsOwnName() throws {
        let areas = try StorageAreas.application(id: "org.example.app", environment: ["HOME": "/home/user"])
        #expect(areas.excludedFolder == "org.example.app")
        #expect(areas.excluding(into: nil).excludedFolder == nil)
    }

    @Test func anAreaThatKeepsFilesIsADestination() {
        #expect(Destination(area: .documents, name: name) == .documents(name))
        #expect(
            Destination(area: .applicationSupport, name: name, backup: .exclude)
                == .applicationSupport(name, backup: .exclude))
        #expect(Destination(area: .iCloudDrive, name: name, in: "a/b") == .iCloudDrive(name, in: "a/b"))
    }

    @Test func nothingInICloudDriveIsExcluded() {
        #expect(Destination.iCloudDrive(name).backup == .include)
        #expect(Destination(area: .iCloudDrive, name: name, backup: .exclude) == nil)
    }

    @Test(arguments: [Area.caches, .temporary])
    func anyOtherAreaIsNone(_ area: Area) {
        #expect(Destination(area: area, name: name) == nil)
    }

    @Test func backupPoliciesHaveTheRawValuesOnDisk() {
        for raw in UInt8.min...UInt8.max {
            let stored: [UInt8: BackupPolicy] = [1: .include, 2: .exclude]
            #expect(BackupPolicy(rawValue: raw) == stored[raw])
        }
    }
}
