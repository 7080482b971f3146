import PrefetchStorageAreas
import Testing

@Suite struct DestinationTests {
    private let name = FileName(sanitizing: "film.mp4")

    @Test func anItemIsBackedUpUnlessTheCallerSaysOtherwise() {
        #expect(Destination.documents(name).backup == .include)
        #expect(Destination.applicationSupport(name).backup == .include)
        #expect(Destination.documents(name, backup: .exclude).backup == .exclude)
        #expect(Destination.applicationSupport(name, backup: .exclude).backup == .exclude)
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
