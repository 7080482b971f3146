import FileSystemTestSupport
import PrefetchFileSystem
import SystemPackage
import Testing

@Suite struct RenameTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func exclusiveRenameRefusesAnExistingName() throws {
        try folder.write("mine", to: "mine")
        try folder.write("theirs", to: "theirs")
        #expect(throws: FileSystemError("rename", path: "theirs", errno: .fileExists)) {
            try live.rename(
                "mine", in: folder.descriptor, to: "theirs", in: folder.descriptor, .exclusive)
        }
        #expect(try folder.text(of: "mine") == "mine")
        #expect(try folder.text(of: "theirs") == "theirs")
    }

    @Test func exclusiveRenameRefusesADanglingLink() throws {
        try folder.write("mine", to: "mine")
        try folder.link("link", to: "nowhere")
        #expect(throws: FileSystemError("rename", path: "link", errno: .fileExists)) {
            try live.rename("mine", in: folder.descriptor, to: "link", in: folder.descriptor, .exclusive)
        }
    }

    @Test func exclusiveRenameTakesAFreeNameInAnotherFolder() throws {
        try folder.write("mine", to: "mine")
        let other = try folder.directory.openOrCreate("other", permissions: .ownerReadWriteExecute)
        try live.rename("mine", in: folder.descriptor, to: "new", in: other.descriptor, .exclusive)
        #expect(try folder.names() == ["other"])
        #expect(try folder.text(of: "other/new") == "mine")
    }

    @Test func replacingRenamePutsOneFileInPlaceOfTheOther() throws {
        try folder.write("new", to: "new")
        try folder.write("old", to: "file")
        try live.rename("new", in: folder.descriptor, to: "file", in: folder.descriptor, .replacing)
        #expect(try folder.names() == ["file"])
        #expect(try folder.text(of: "file") == "new")
    }

    @Test func exchangingRenameSwapsTwoNames() throws {
        try folder.write("1", to: "one")
        try folder.write("2", to: "two")
        try live.rename("one", in: folder.descriptor, to: "two", in: folder.descriptor, .exchanging)
        #expect(try folder.text(of: "one") == "2")
        #expect(try folder.text(of: "two") == "1")
    }

    @Test func exchangingRenameNeedsBothNames() throws {
        try folder.write("1", to: "one")
        #expect(throws: FileSystemError("rename", path: "two", errno: .noSuchFileOrDirectory)) {
            try live.rename("one", in: folder.descriptor, to: "two", in: folder.descriptor, .exchanging)
        }
        #expect(try folder.names() == ["one"])
    }

    @Test func unlinkRemovesAFileOrALinkAndNeverAFolder() throws {
        try folder.write("", to: "file")
        try folder.link("link", to: "folder")
        try folder.makeFolder("folder")
        try live.unlink("file", in: folder.descriptor)
        try live.unlink("link", in: folder.descriptor)
        #expect(throws: FileSystemError.self) { try live.unlink("folder", in: folder.descriptor) }
        #expect(try folder.names() == ["folder"])
    }

    @Test func removeDirectoryRefusesAFolderThatIsNotEmpty() throws {
        try folder.makeFolder("empty")
        try folder.makeFolder("full/inner")
        try live.removeDirectory("empty", in: folder.descriptor)
        #expect(throws: FileSystemError("rmdir", path: "full", errno: .directoryNotEmpty)) {
            try live.removeDirectory("full", in: folder.descriptor)
        }
        #expect(try folder.names() == ["full"])
    }
}
