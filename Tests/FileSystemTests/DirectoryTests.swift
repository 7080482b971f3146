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
}
