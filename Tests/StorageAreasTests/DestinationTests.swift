import StorageAreas
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
    }

    @Test(arguments: [Area.caches, .temporary, .iCloudDrive])
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
