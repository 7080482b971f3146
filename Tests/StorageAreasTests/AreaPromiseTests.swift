import FileSystemTestSupport
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

    @Test func theMarkdownTableHasALineForEveryArea() {
        let lines = AreaPromise.markdownTable().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines == [
                "| Area | Seen by the user | Backed up | Purged by the system | In “Documents & Data” |",
                "| --- | --- | --- | --- | --- |",
                "| Documents | yes | yes | never | yes |",
                "| Application Support | no | yes | never | yes |",
                "| Caches | no | no | when space is low, while the app is not running; idle apps first | no, in the total only |",
                "| tmp | no | no | periodically, while the app is not running | no, in the total only |",
                "| iCloud Drive | yes | uploaded | never | – |",
                "",
            ])
    }
}
