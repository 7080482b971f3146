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
        let error = #expect(throws: StorageAreasError.self) { try StorageAreas.container(at: root) }
        guard case .containerUnreadable(let cause)? = error else { Issue.record("\(error as Any)"); return }
        #expect(cause.path == root && cause.errno == .tooManySymbolicLinkLevels)
    }

    @Test func anEmptyPathIsNotTheWorkingDirectory() {
        #expect(throws: StorageAreasError.emptyContainerPath) { try StorageAreas.container(at: "") }
    }
}

@Suite struct BaseDirectoriesTests {
    private func areas(_ environment: [String: String]) throws -> [FilePath] {
        let areas = try StorageAreas.application(id: "app", environment: environment)
        return [areas.documents, areas.applicationSupport, areas.caches, areas.temporary]
    }

    @Test func withoutVariablesTheDefaultsAreInHome() throws {
        #expect(
            try areas(["HOME": "/nowhere/u"]) == [
                "/nowhere/u/Documents/app", "/nowhere/u/.local/share/app", "/nowhere/u/.cache/app",
                "/tmp/app",
            ])
    }

    @Test func variablesComeBeforeTheDefaults() throws {
        let environment = [
            "HOME": "/nowhere/u", "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d/",
            "XDG_CONFIG_HOME": "/nowhere",
            "TMPDIR": "/t",
        ]
        #expect(try areas(environment) == ["/nowhere/u/Documents/app", "/d/app", "/c/app", "/t/app"])
    }

    @Test(arguments: ["", "relative", "./relative", "~/x", "$HOME/x", "/a\0b"])
    func aValueThatIsNoAbsolutePathIsIgnored(_ value: String) throws {
        let environment = [
            "HOME": "/nowhere/u", "XDG_CACHE_HOME": value, "XDG_DATA_HOME": value, "XDG_CONFIG_HOME": value,
            "TMPDIR": value,
        ]
        #expect(try areas(environment) == areas(["HOME": "/nowhere/u"]))
    }

    @Test(arguments: [nil, "", "home/u", "~", "/a\0b"])
    func homeMustBeAnAbsolutePath(_ home: String?) {
        var environment = ["XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"]
        environment["HOME"] = home
        #expect(throws: StorageAreasError.homeMissing) { try areas(environment) }
    }

    @Test(arguments: ["XDG_CACHE_HOME", "XDG_DATA_HOME"])
    func withoutHomeEachVariableIsNeeded(_ missing: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(#"XDG_DOCUMENTS_DIR="/docs""#, to: "user-dirs.dirs")
        var environment = [
            "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": folder.path.string,
        ]
        #expect(try areas(environment) == ["/docs/app", "/d/app", "/c/app", "/tmp/app"])
        environment[missing] = nil
        #expect(throws: StorageAreasError.homeMissing) { try areas(environment) }
    }

    #if !canImport(Darwin)
        @Test func theEnvironmentOfTheProcessIsTheDefault() throws {
            #expect(try StorageAreas.application(id: "app").temporary.lastComponent == "app")
        }
    #endif

    @Test func everyAreaButICloudDriveHasAPath() throws {
        let areas = try StorageAreas.application(id: "app", environment: ["HOME": "/nowhere/u"])
        #expect(areas.path(of: .documents) == areas.documents)
        #expect(areas.path(of: .applicationSupport) == areas.applicationSupport)
        #expect(areas.path(of: .caches) == areas.caches)
        #expect(areas.path(of: .temporary) == areas.temporary)
        #expect(areas.path(of: .iCloudDrive) == nil)
    }
}
