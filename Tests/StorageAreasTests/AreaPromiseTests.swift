import PrefetchStorageAreas
import Testing

@Suite struct AreaPromiseTests {
    @Test func onlyWhatTheUserSeesOrTheAppKeepsIsBackedUp() {
        #expect(Area.documents.promise.backup == .backedUp)
        #expect(Area.applicationSupport.promise.backup == .backedUp)
        #expect(Area.caches.promise.backup == .notBackedUp)
        #expect(Area.temporary.promise.backup == .notBackedUp)
        #expect(Area.iCloudDrive.promise.backup == .uploaded)
    }

    @Test func onlyCachesAndTemporaryFilesArePurged() {
        for area in Area.allCases {
            let expected: AreaPromise.Purge =
                switch area {
                case .caches: .whenSpaceIsLow
                case .temporary: .periodically
                default: .never
                }
            #expect(area.promise.purge == expected, "\(area)")
        }
    }

    @Test func theUserSeesDocumentsAndICloudDrive() {
        #expect(Set(Area.allCases.filter(\.promise.isVisibleToUser)) == [.documents, .iCloudDrive])
    }

    @Test func documentsAndDataIsWhatTheSystemDoesNotPurge() {
        for area in Area.allCases where area != .iCloudDrive {
            #expect(area.promise.isCountedInDocumentsAndData == (area.promise.purge == .never), "\(area)")
        }
        #expect(Area.iCloudDrive.promise.isCountedInDocumentsAndData == nil)
    }
}
