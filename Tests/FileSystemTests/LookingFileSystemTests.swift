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

@Suite struct FileSystemErrorTests {
    @Test(arguments: [(Errno.noSpace, true), (.diskQuotaExceeded, true), (.ioError, false)])
    func aFullVolumeAndAFullQuotaAreOutOfSpace(_ errno: Errno, _ isOutOfSpace: Bool) {
        #expect(FileSystemError("write", errno: errno).isOutOfSpace == isOutOfSpace)
    }

    @Test(arguments: [
        (Errno.permissionDenied, true), (.notPermitted, true), (.readOnlyFileSystem, true), (.noSpace, false),
    ])
    func refusalsAreNotPermitted(_ errno: Errno, _ isNotPermitted: Bool) {
        #expect(FileSystemError("open", errno: errno).isNotPermitted == isNotPermitted)
    }

    @Test func theDescriptionLeavesOutAPathThatIsNotThere() {
        #expect(FileSystemError("fsync", errno: .ioError).description == "fsync: Input/output error")
        #expect(
            FileSystemError("unlink", path: "a", errno: .ioError).description
                == "unlink a: Input/output error")
    }
}

@Suite struct UnfairMutexTests {
    private struct Failure: Error {}

    @Test func onlyOneThreadAtATimeHasTheValue() {
        let counter = UnfairMutex((count: 0, isUsed: false))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 {
                counter.withLock { state in
                    if state.isUsed { return }
                    state.isUsed = true
                    state.count += 1
                    state.isUsed = false
                }
            }
        }
        #expect(counter.withLock(\.count) == 80_000)
    }

    @Test func anErrorReleasesIt() {
        let value = UnfairMutex(1)
        #expect(throws: Failure.self) {
            try value.withLock { value in
                value = 2
                throw Failure()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }
}
