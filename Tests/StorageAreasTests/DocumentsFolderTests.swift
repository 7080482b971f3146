import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import PrefetchStorageAreas
import SystemPackage
import Testing

/// Where documents go, by the `user-dirs.dirs` of a home folder.
@Suite struct DocumentsFolderTests {
    let home: TemporaryFolder

    init() throws {
        home = try TemporaryFolder()
        try home.makeFolder(".config")
    }

    private func documents(_ environment: [String: String] = [:]) throws -> FilePath {
        let environment = environment.merging(["HOME": home.path.string]) { given, _ in given }
        return try StorageAreas.application(id: "app", environment: environment).documents
    }

    private var defaultDocuments: FilePath { home.path.appending("Documents/app") }

    @Test func theChosenFolderInHomeIsUsed() throws {
        try home.write("XDG_DOCUMENTS_DIR=\"$HOME/Dokumente\"\n", to: ".config/user-dirs.dirs")
        #expect(try documents() == home.path.appending("Dokumente/app"))
    }

    @Test func theConfigurationFolderCanBeElsewhere() throws {
        try home.write("XDG_DOCUMENTS_DIR=\"/a\"\n", to: ".config/user-dirs.dirs")
        try home.write("XDG_DOCUMENTS_DIR=\"/b\"\n", to: "user-dirs.dirs")
        #expect(try documents(["XDG_CONFIG_HOME": home.path.string]) == "/b/app")
    }

    @Test(arguments: ["$HOME", "$HOME/", "$HOME/.", "$HOME/x/.."])
    func homeItselfMeansThatThereIsNoSuchFolder(_ value: String) throws {
        try home.write("XDG_DOCUMENTS_DIR=\"\(value)\"\n", to: ".config/user-dirs.dirs")
        #expect(try documents() == defaultDocuments)
        #expect(try documents(["HOME": home.path.string + "/"]) == defaultDocuments)
    }

    @Test func theAbsolutePathOfHomeMeansTheSame() throws {
        try home.write("XDG_DOCUMENTS_DIR=\"\(home.path)/\"\n", to: ".config/user-dirs.dirs")
        #expect(try documents() == defaultDocuments)
    }

    @Test func anotherFolderInTheFileDoesNotCount() throws {
        try home.write("XDG_MUSIC_DIR=\"$HOME/Music\"\n", to: ".config/user-dirs.dirs")
        #expect(try documents() == defaultDocuments)
    }

    @Test func aLinkToTheFileIsFollowed() throws {
        try home.write("XDG_DOCUMENTS_DIR=\"/linked\"\n", to: "dotfiles")
        try home.link(".config/user-dirs.dirs", to: "../dotfiles")
        #expect(try documents() == "/linked/app")
    }

    @Test func aDanglingLinkIsNoFile() throws {
        try home.link(".config/user-dirs.dirs", to: "nowhere")
        #expect(try documents() == defaultDocuments)
    }

    @Test func aConfigurationFolderThatIsAFileHoldsNothing() throws {
        try home.write("", to: "file")
        #expect(try documents(["XDG_CONFIG_HOME": home.path.appending("file").string]) == defaultDocuments)
    }

    @Test func aFileOf64KiBIsRead() throws {
        let line = "XDG_DOCUMENTS_DIR=\"/big\"\n"
        let padding = String(repeating: "#", count: 65536 - line.utf8.count - 1) + "\n"
        try home.write(padding + line, to: ".config/user-dirs.dirs")
        #expect(try documents() == "/big/app")
    }

    @Test func aLongerFileIsAnErrorAndNotHalfRead() throws {
        try home.write(String(repeating: "#", count: 65537), to: ".config/user-dirs.dirs")
        let file = home.path.appending(".config/user-dirs.dirs")
        #expect {
            try documents()
        } throws: { error in
            guard case StorageAreasError.userDirectoriesUnreadable(let cause) = error else { return false }
            return cause.path == file && cause.errno == .fileTooLarge
        }
    }

    @Test func aFolderInPlaceOfTheFileIsAnError() throws {
        try home.makeFolder(".config/user-dirs.dirs")
        let file = home.path.appending(".config/user-dirs.dirs")
        #expect {
            try documents()
        } throws: { error in
            guard case StorageAreasError.userDirectoriesUnreadable(let cause) = error else { return false }
            return cause.path == file && cause.errno == .isDirectory
        }
    }
}
