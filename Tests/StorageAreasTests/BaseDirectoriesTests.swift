import FileSystemTestSupport
import PrefetchStorageAreas
import SystemPackage
import Testing

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
