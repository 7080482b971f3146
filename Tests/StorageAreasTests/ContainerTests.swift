import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import PrefetchStorageAreas
import SystemPackage
import Testing

@Suite struct ContainerTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func theAreasAreThoseOfAnAppContainer() throws {
        let areas = try StorageAreas.container(at: folder.path)
        #expect(areas.documents == folder.path.appending("Documents"))
        #expect(areas.applicationSupport == folder.path.appending("Library/Application Support"))
        #expect(areas.caches == folder.path.appending("Library/Caches"))
        #expect(areas.temporary == folder.path.appending("tmp"))
        #expect(areas.iCloudDrive == folder.path.appending("Library/Mobile Documents"))
        #expect(areas.path(of: .iCloudDrive) == areas.iCloudDrive)
    }

    @Test func aContainerNeedNotExistAndIsNotCreated() throws {
        let root = folder.path.appending("a/b")
        #expect(try StorageAreas.container(at: root).temporary == root.appending("tmp"))
        #expect(try folder.names().isEmpty)
    }

    @Test func aRelativePathIsTakenFromTheWorkingDirectory() throws {
        let current = FilePath(FileManager.default.currentDirectoryPath)
        for path: FilePath in ["no such/container", "./no such/./x/../container/"] {
            let areas = try StorageAreas.container(at: path)
            #expect(areas.temporary == current.appending("no such/container/tmp"))
        }
        #expect(try StorageAreas.container(at: ".").temporary == current.appending("tmp"))
    }

    @Test func anAbsolutePathIsFoldedToo() throws {
        let areas = try StorageAreas.container(at: folder.path.appending("a/.././b"))
        #expect(areas.temporary == folder.path.appending("b/tmp"))
    }

    @Test func aLinkToAContainerIsFollowed() throws {
        try folder.makeFolder("container")
        try folder.link("link", to: "container")
        let root = folder.path.appending("link")
        #expect(try StorageAreas.container(at: root).temporary == root.appending("tmp"))
    }

    @Test(arguments: ["file", "file/below", "link to file"])
    func aFileIsNoContainer(_ name: String) throws {
        try folder.write("", to: "file")
        try folder.link("link to file", to: "file")
        let root = folder.path.appending(name)
        #expect(throws: StorageAreasError.notADirectory(root.string)) { try StorageAreas.container(at: root) }
    }

    @Test func aLoopOfLinksIsAnErrorThatSaysSo() throws {
        try folder.link("loop", to: "loop")
        let root = folder.path.appending("loop")
        #expect {
            try StorageAreas.container(at: root)
        } throws: { error in
            guard case StorageAreasError.containerUnreadable(let cause) = error else { return false }
            return cause.path == root && cause.errno == .tooManySymbolicLinkLevels
        }
    }

    @Test func anEmptyPathIsNotTheWorkingDirectory() {
        #expect(throws: StorageAreasError.emptyContainerPath) { try StorageAreas.container(at: "") }
    }
}
