import PrefetchStorageAreas
import SystemPackage
import Testing

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
