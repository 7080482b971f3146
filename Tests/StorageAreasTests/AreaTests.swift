import PrefetchStorageAreas
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

    @Test func namesAreThoseOfTheCommandLine() {
        #expect(Area.allCases.map(\.name) == ["documents", "support", "caches", "tmp", "icloud"])
    }

    @Test func everyAreaIsFoundByItsName() {
        for area in Area.allCases {
            #expect(Area(name: area.name) == area)
        }
    }

    @Test(arguments: ["", "Documents", "cache", "caches ", "applicationSupport"])
    func anUnknownNameIsNoArea(_ name: String) {
        #expect(Area(name: name) == nil)
    }
}
