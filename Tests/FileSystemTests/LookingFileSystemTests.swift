import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@Suite struct LookingFileSystemTests {
    let folder: TemporaryFolder
    let looking = LookingFileSystem(LiveFileSystem())

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("content", to: "file")
    }

    @Test func whatWouldChangeSomethingFailsAsOnAReadOnlyVolume() throws {
        let directory = folder.descriptor
        let file = try looking.open("file", in: directory, .read)
        defer { looking.close(file) }
        let changes: [() throws(FileSystemError) -> Void] = [
            { () throws(FileSystemError) in _ = try looking.open("new", in: directory, .createNew([])) },
            { () throws(FileSystemError) in _ = try looking.open("file", in: directory, .readWrite) },
            { () throws(FileSystemError) in try looking.unlink("file", in: directory) },
            { () throws(FileSystemError) in
                try looking.rename("file", in: directory, to: "other", in: directory, .exclusive)
            },
            { () throws(FileSystemError) in try looking.writeAll([1], to: file, at: 0) },
            { () throws(FileSystemError) in try looking.resize(file, to: 0) },
            { () throws(FileSystemError) in try looking.setPermissions([], of: file) },
            { () throws(FileSystemError) in try looking.setAccessTime(0, of: file) },
            { () throws(FileSystemError) in try looking.requireWritable(directory) },
        ]
        for change in changes {
            do {
                try change()
                Issue.record("it was changed")
            } catch {
                #expect(error.isReadOnlyVolume, "\(error)")
            }
        }
        #expect(try folder.text(of: "file") == "content")
        #expect(try folder.names() == ["file"])
    }

    @Test func aFolderThatWouldBeMadeIsThereAndEmptyForThisObjectAlone() throws {
        let made = try Directory(looking.open(".", in: folder.descriptor, .directory), of: looking)
            .openOrCreate("a/b", permissions: .ownerReadWriteExecute)
        #expect(try looking.entries(of: made.descriptor).isEmpty)
        #expect(try looking.attributes(of: made.descriptor).kind == .directory)
        #expect(try looking.volume(of: made.descriptor).total == live.volume(of: folder.descriptor).total)
        #expect(try made.open("c") == nil)
        #expect(try folder.names() == ["file"])
    }

    @Test func nobodyHoldsALockWhoseFileIsMissing() throws {
        for name: FilePath in ["file", "missing"] {
            let file = try looking.open(name, in: folder.descriptor, .createIfMissing(.ownerReadWrite))
            #expect(try looking.lock(file, waiting: false))
            #expect(
                try looking.attributes(of: name, in: folder.descriptor)?.identity
                    == looking.attributes(of: file).identity)
            looking.unlock(file)
        }
        #expect(try folder.names() == ["file"])
    }
}
