import PrefetchStorageAreas
import SystemPackage
import Testing

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
