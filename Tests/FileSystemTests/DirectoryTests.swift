import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@Suite struct DirectoryTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func missingParentsAreCreatedWithThePermissionsGiven() throws {
        let path = folder.path.appending("a").appending("b").appending("c")
        for _ in 0..<2 {
            _ = try Directory.openOrCreate(path, permissions: .ownerReadWriteExecute, in: live)
        }
        for name: FilePath in ["a", "a/b", "a/b/c"] {
            let attributes = try #require(try live.attributes(of: name, in: folder.descriptor))
            #expect(attributes.kind == .directory)
            #expect(attributes.permissions == .ownerReadWriteExecute)
        }
    }

    @Test func linksInAPathThatAPersonGaveAreFollowed() throws {
        try folder.makeFolder("target")
        try folder.link("link", to: "target")
        let path = folder.path.appending("link").appending("inner")
        _ = try Directory.openOrCreate(path, permissions: .ownerReadWriteExecute, in: live)
        #expect(try folder.names() == ["target", "link"])
        #expect(try live.attributes(of: "target/inner", in: folder.descriptor)?.kind == .directory)
    }

    @Test func linksBelowAnOpenFolderAreRefused() throws {
        try folder.makeFolder("target/inner")
        try folder.link("link", to: "target")
        #expect(throws: FileSystemError.self) {
            try folder.directory.openOrCreate("link/inner", permissions: .ownerReadWriteExecute)
        }
        #expect(throws: FileSystemError.self) { try folder.directory.open("link/inner") }
    }

    @Test func openingAMissingSubfolderIsNilAndCreatesNothing() throws {
        try folder.makeFolder("a")
        #expect(try folder.directory.open("a/b/c") == nil)
        #expect(try folder.directory.open("x") == nil)
        #expect(try folder.directory.open("a") != nil)
        #expect(try folder.names() == ["a"])
    }

    @Test func aFileInTheWayIsAnError() throws {
        try folder.write("", to: "file")
        #expect(throws: FileSystemError("open", path: "file", errno: .notDirectory)) {
            try folder.directory.openOrCreate("file", permissions: .ownerReadWriteExecute)
        }
        #expect(throws: FileSystemError.self) {
            try Directory.openOrCreate(
                folder.path.appending("file").appending("inner"),
                permissions: .ownerReadWriteExecute, in: live)
        }
    }

    @Test func makeDirectorySaysWhetherTheNameWasFree() throws {
        let permissions = FilePermissions.ownerReadWriteExecute
        #expect(try live.makeDirectory("new", in: folder.descriptor, permissions: permissions))
        #expect(try live.makeDirectory("new", in: folder.descriptor, permissions: permissions) == false)
    }

    @Test func aFolderThatWasRemovedMovedOrReplacedHasItsNameNoLonger() throws {
        let inner = try folder.directory.openOrCreate("inner", permissions: .ownerReadWriteExecute)
        #expect(try inner.isNamed("inner", in: folder.descriptor))
        try live.rename("inner", in: folder.descriptor, to: "other", in: folder.descriptor, .exclusive)
        #expect(try !inner.isNamed("inner", in: folder.descriptor))
        _ = try live.makeDirectory("inner", in: folder.descriptor, permissions: .ownerReadWriteExecute)
        #expect(try !inner.isNamed("inner", in: folder.descriptor))
        try live.removeDirectory("other", in: folder.descriptor)
        #expect(try !inner.isNamed("other", in: folder.descriptor))
    }

    @Test func theDescriptorIsClosedWithTheObject() throws {
        var inner: Directory? = try folder.directory.openOrCreate(
            "inner", permissions: .ownerReadWriteExecute)
        let descriptor = try #require(inner?.descriptor)
        let identity = try live.attributes(of: descriptor).identity
        inner = nil
        // Another test may have been given the same number in the meantime, for another inode.
        do {
            #expect(try live.attributes(of: descriptor).identity != identity)
        } catch {
            #expect(error == FileSystemError("fstat", errno: .badFileDescriptor))
        }
    }

    @Test func anEmptyFolderHasNoEntries() throws {
        #expect(try live.entries(of: folder.descriptor).isEmpty)
    }

    @Test func entriesTellTheirNamesAndKinds() throws {
        try folder.write("", to: "file")
        try folder.write("", to: ".hidden")
        try folder.makeFolder("folder")
        try folder.link("link", to: "nowhere")
        let entries = try live.entries(of: folder.descriptor)
        let kinds = Dictionary(uniqueKeysWithValues: entries.map { ($0.name.string, $0.kind) })
        let expected: [String: FileAttributes.Kind] = [
            "file": .regular, ".hidden": .regular, "folder": .directory, "link": .symbolicLink,
        ]
        #expect(Set(kinds.keys) == Set(expected.keys))
        for (name, kind) in kinds {
            // Not every file system says it for free.
            #expect(kind == nil || kind == expected[name])
        }
    }

    @Test func aSecondListingOfTheSameDescriptorIsCompleteToo() throws {
        let names = Set((0..<500).map { "file \($0)" })
        for name in names { try folder.write("", to: name) }
        for _ in 0..<2 {
            #expect(Set(try live.entries(of: folder.descriptor).map(\.name.string)) == names)
        }
    }

    @Test func aNameOf255BytesIsListedWhole() throws {
        let name = String(repeating: "n", count: 255)
        try folder.write("", to: name)
        #expect(try live.entries(of: folder.descriptor).map(\.name.string) == [name])
    }

    #if !canImport(Darwin)
        @Test func aNameThatIsNoUTF8CanBeListedAndRemoved() throws {
            let name = FilePath(platformString: [0x66, -1, 0x67, 0])
            try live.withFile(name, in: folder.descriptor, .createNew(.ownerReadWrite)) { _ in }
            let entry = try #require(try live.entries(of: folder.descriptor).first)
            #expect(FilePath(root: nil, [entry.name]) == name)
            try live.unlink(FilePath(root: nil, [entry.name]), in: folder.descriptor)
            #expect(try folder.names().isEmpty)
        }
    #endif

    @Test func aFileHasNoEntries() throws {
        let file = try live.open("file", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer { live.close(file) }
        #expect(throws: FileSystemError("open", path: ".", errno: .notDirectory)) {
            try live.entries(of: file)
        }
    }

    @Test func aMissingFileHasNoContents() throws {
        #expect(try live.contents(of: "missing", in: folder.descriptor, limit: 10) == nil)
    }

    @Test func theLimitIsInclusive() throws {
        try folder.write("12345", to: "file")
        try folder.write("", to: "empty")
        #expect(try live.contents(of: "file", in: folder.descriptor, limit: 5) == Array("12345".utf8))
        #expect(try live.contents(of: "empty", in: folder.descriptor, limit: 0) == [])
        #expect(throws: FileSystemError("read", path: "file", errno: .fileTooLarge)) {
            try live.contents(of: "file", in: folder.descriptor, limit: 4)
        }
    }

    @Test func contentsBehindALinkAreRefused() throws {
        try folder.write("secret", to: "file")
        try folder.link("link", to: "file")
        #expect(throws: FileSystemError("open", path: "link", errno: .tooManySymbolicLinkLevels)) {
            try live.contents(of: "link", in: folder.descriptor, limit: 10)
        }
    }
}
