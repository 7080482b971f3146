import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchStorageAreas

/// Which lines of `user-dirs.dirs` count, and what they mean.
@Suite struct UserDirectoriesTests {
    private func documents(_ text: String, home: FilePath? = "/home/u") -> String? {
        UserDirectories(parsing: Array(text.utf8)).path(of: "XDG_DOCUMENTS_DIR", home: home)?.string
    }

    @Test(arguments: [
        (#"XDG_DOCUMENTS_DIR="$HOME/Documents""#, "/home/u/Documents"),
        (#"XDG_DOCUMENTS_DIR="$HOME/a/b c""#, "/home/u/a/b c"),
        (#"XDG_DOCUMENTS_DIR="$HOME/""#, "/home/u"),
        (#"XDG_DOCUMENTS_DIR="$HOME""#, "/home/u"),
        (#"XDG_DOCUMENTS_DIR="/srv/docs""#, "/srv/docs"),
        (#"XDG_DOCUMENTS_DIR="/""#, "/"),
        (#"XDG_DOCUMENTS_DIR="/a//b/""#, "/a/b"),
        (#"XDG_DOCUMENTS_DIR="$HOME/Документы""#, "/home/u/Документы"),
        (#"XDG_DOCUMENTS_DIR="$HOME/\$5 \"x\" \`y\` \\z \n""#, #"/home/u/$5 "x" `y` \z n"#),
        (#"XDG_DOCUMENTS_DIR="/a#b""#, "/a#b"),
        ("  XDG_DOCUMENTS_DIR\t = \t\"/a\"  ", "/a"),
        ("XDG_DOCUMENTS_DIR=\"/a\"\r", "/a"),
        (#"XDG_DOCUMENTS_DIR="/a" # where they are"#, "/a"),
    ])
    func aLineInTheFormatNamesAFolder(_ line: String, _ path: String) {
        #expect(documents(line) == path)
    }

    @Test(arguments: [
        "", "#", #"#XDG_DOCUMENTS_DIR="/a""#,
        #"XDG_DOCUMENTS_DIR="Documents""#, #"XDG_DOCUMENTS_DIR="""#, #"XDG_DOCUMENTS_DIR="~/a""#,
        #"XDG_DOCUMENTS_DIR="$HOMER/a""#, #"XDG_DOCUMENTS_DIR="${HOME}/a""#, #"XDG_DOCUMENTS_DIR="$OTHER/a""#,
        #"XDG_DOCUMENTS_DIR="\$HOME/a""#, #"XDG_DOCUMENTS_DIR="/a/$USER""#, #"XDG_DOCUMENTS_DIR="/a/`id`""#,
        #"XDG_DOCUMENTS_DIR="/a"#, #"XDG_DOCUMENTS_DIR="/a\""#, #"XDG_DOCUMENTS_DIR="/a\"#,
        #"XDG_DOCUMENTS_DIR="/a"b"#, "XDG_DOCUMENTS_DIR=\"/a\"# no comment", #"XDG_DOCUMENTS_DIR="/a"; rm x"#,
        "XDG_DOCUMENTS_DIR='/a'",
        "XDG_DOCUMENTS_DIR=/a", #"XDG_DOCUMENTS_DIR"/a""#, #"XDG_DOCUMENTS_DIR=="/a""#, "XDG_DOCUMENTS_DIR=",
        #"export XDG_DOCUMENTS_DIR="/a""#, #"DOCUMENTS="/a""#, #"xdg_documents_dir="/a""#,
        #"XDG_DOCUMENTS_DIRS="/a""#, "XDG_DOCUMENTS_DIR=\"/a\0b\"", "XDG_DOCUMENTS_DIR=\"/a\"\0",
    ])
    func anyOtherLineIsIgnored(_ line: String) {
        #expect(documents(line) == nil)
        #expect(documents("XDG_DOCUMENTS_DIR=\"/before\"\n\(line)\n") == "/before")
    }

    @Test func theLastLineForAKeyWins() {
        #expect(documents("XDG_DOCUMENTS_DIR=\"/1\"\n\nXDG_DOCUMENTS_DIR=\"/2\"\n") == "/2")
    }

    @Test func everyKeyHasItsOwnFolder() {
        let text =
            "XDG_MUSIC_DIR=\"/music\"\nXDG_DOCUMENTS_DIR=\"/documents\"\nXDG_X2_DIR=\"/x\"\nXDG__DIR=\"/y\""
        let directories = UserDirectories(parsing: Array(text.utf8))
        #expect(directories.path(of: "XDG_MUSIC_DIR", home: nil) == "/music")
        #expect(directories.path(of: "XDG_DOCUMENTS_DIR", home: nil) == "/documents")
        #expect(directories.path(of: "XDG_X2_DIR", home: nil) == "/x")
        #expect(directories.path(of: "XDG__DIR", home: nil) == nil)
        #expect(directories.path(of: "XDG_VIDEOS_DIR", home: nil) == nil)
    }

    @Test func aFolderInAnUnknownHomeIsNotNamed() {
        #expect(documents(#"XDG_DOCUMENTS_DIR="$HOME/a""#, home: nil) == nil)
    }

    @Test func aNameThatIsNoUTF8KeepsItsBytes() {
        let bytes = Array("XDG_DOCUMENTS_DIR=\"/a".utf8) + [0xE9, 0x22]
        let path = UserDirectories(parsing: bytes).path(of: "XDG_DOCUMENTS_DIR", home: nil)
        #expect(path == FilePath(platformString: [0x2F, 0x61, CChar(bitPattern: 0xE9), 0]))
    }
}

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

    /// Home itself means that there is no such folder, and another folder in the file does not count.
    @Test(arguments: [
        "XDG_DOCUMENTS_DIR=\"$HOME\"", "XDG_DOCUMENTS_DIR=\"$HOME/\"", "XDG_DOCUMENTS_DIR=\"$HOME/.\"",
        "XDG_DOCUMENTS_DIR=\"$HOME/x/..\"", "XDG_DOCUMENTS_DIR=\"HOME/\"", "XDG_MUSIC_DIR=\"$HOME/Music\"",
    ])
    func otherwiseItIsTheDefault(_ line: String) throws {
        let text = line.replacing("\"HOME", with: "\"\(home.path)")
        try home.write("\(text)\n", to: ".config/user-dirs.dirs")
        #expect(try documents() == defaultDocuments)
        #expect(try documents(["HOME": home.path.string + "/"]) == defaultDocuments)
    }

    @Test func aLinkToTheFileIsFollowed() throws {
        try home.write("XDG_DOCUMENTS_DIR=\"/linked\"\n", to: "dotfiles")
        try home.link(".config/user-dirs.dirs", to: "../dotfiles")
        #expect(try documents() == "/linked/app")
    }

    @Test func aDanglingLinkOrAConfigurationFolderThatIsAFileHoldsNothing() throws {
        try home.link(".config/user-dirs.dirs", to: "nowhere")
        #expect(try documents() == defaultDocuments)
        try home.write("", to: "file")
        #expect(try documents(["XDG_CONFIG_HOME": home.path.appending("file").string]) == defaultDocuments)
    }

    @Test func aFileOf64KiBIsRead() throws {
        let line = "XDG_DOCUMENTS_DIR=\"/big\"\n"
        let padding = String(repeating: "#", count: 65536 - line.utf8.count - 1) + "\n"
        try home.write(padding + line, to: ".config/user-dirs.dirs")
        #expect(try documents() == "/big/app")
    }

    @Test(arguments: [Errno.fileTooLarge, .isDirectory])
    func aLongerFileOrAFolderInItsPlaceIsAnErrorAndNotHalfRead(errno: Errno) throws {
        let name = ".config/user-dirs.dirs"
        if errno == .isDirectory {
            try home.makeFolder(name)
        } else {
            try home.write(String(repeating: "#", count: 65537), to: name)
        }
        let error = #expect(throws: StorageAreasError.self) { try documents() }
        guard case .userDirectoriesUnreadable(let cause)? = error else {
            Issue.record("\(error as Any)"); return
        }
        #expect(cause.path == home.path.appending(name) && cause.errno == errno)
    }
}
