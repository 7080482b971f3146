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
        func expectRefusal(_ change: @autoclosure () throws -> some Any) {
            do {
                _ = try change()
                Issue.record("it was changed")
            } catch {
                #expect((error as? FileSystemError)?.isReadOnlyVolume == true, "\(error)")
            }
        }
        expectRefusal(try looking.open("new", in: directory, .createNew([])))
        expectRefusal(try looking.open("file", in: directory, .readWrite))
        expectRefusal(try looking.unlink("file", in: directory))
        expectRefusal(try looking.rename("file", in: directory, to: "other", in: directory, .exclusive))
        expectRefusal(try looking.writeAll([1], to: file, at: 0))
        expectRefusal(try looking.resize(file, to: 0))
        expectRefusal(try looking.setPermissions([], of: file))
        expectRefusal(try looking.setTimes(accessed: 0, modified: nil, of: file))
        expectRefusal(try looking.requireWritable(directory))
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
