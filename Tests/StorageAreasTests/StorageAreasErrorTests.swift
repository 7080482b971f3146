import PrefetchFileSystem
import PrefetchStorageAreas
import SystemPackage
import Testing

@Suite struct StorageAreasErrorTests {
    @Test(arguments: [
        (StorageAreasError.invalidApplicationID("a\u{1B}[31m\u{202E}"), "org.example.podcasts"),
        (.homeMissing, "set HOME"),
        (.homeMissing, "XDG_CACHE_HOME"),
        (
            .userDirectoriesUnreadable(FileSystemError("open", path: "/u", errno: .ioError)),
            "repair or remove"
        ),
        (.emptyContainerPath, "specify a folder"),
        (.workingDirectoryMissing, "absolute path"),
        (.notADirectory("/f"), "/f"),
        (.containerUnreadable(FileSystemError("open", path: "/f", errno: .permissionDenied)), "permissions"),
        (.areaUnavailable(.caches), "caches"),
    ])
    func theDescriptionSaysWhatToDo(_ error: StorageAreasError, _ advice: String) {
        #expect(error.description.contains(advice))
        #expect(!error.description.contains("\n"))
    }

    @Test func anIDThatIsQuotedCannotControlTheTerminal() {
        let error = StorageAreasError.invalidApplicationID("a\u{1B}[31m\n")
        #expect(!error.description.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
}
