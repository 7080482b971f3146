import FileSystemTestSupport
import PrefetchFileSystem
import SystemPackage
import Testing

@Suite struct LockTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func oneDescriptorExcludesAnotherOfTheSameFile() throws {
        let mode = OpenMode.createIfMissing(.ownerReadWrite)
        let first = try live.open("lock", in: folder.descriptor, mode)
        let second = try live.open("lock", in: folder.descriptor, mode)
        defer { live.close(second) }
        #expect(try live.lock(first, waiting: false))
        #expect(try live.lock(second, waiting: false) == false)
        live.close(first)
        #expect(try live.lock(second, waiting: false))
    }

    /// Wherever they are, of a file that has none.
    @Test func oneLockedByteExcludesNoOther() throws {
        let mode = OpenMode.createIfMissing(.ownerReadWrite)
        let first = try live.open("lock", in: folder.descriptor, mode)
        let second = try live.open("lock", in: folder.descriptor, mode)
        defer { live.unlock(second) }
        #expect(try live.lockByte(.max / 2, of: first))
        #expect(try live.lockByte(0, of: first))
        #expect(try live.lockByte(.max / 2 - 1, of: second))
        #expect(try live.lockByte(.max / 2, of: second) == false)
        #expect(try live.lockByte(0, of: second) == false)
        // Though a copy of its descriptor stays with a child process that is just being started.
        let copy = try FileDescriptor(rawValue: first.rawValue).duplicate()
        live.unlock(first)
        #expect(try live.lockByte(0, of: second) && live.lockByte(.max / 2, of: second))
        try copy.close()
    }

    @Test func twoFilesDoNotExcludeEachOther() throws {
        let first = try live.open("1", in: folder.descriptor, .createNew(.ownerReadWrite))
        let second = try live.open("2", in: folder.descriptor, .createNew(.ownerReadWrite))
        defer {
            live.close(first)
            live.close(second)
        }
        #expect(try live.lock(first, waiting: false))
        #expect(try live.lock(second, waiting: false))
    }

    @Test func aWaiterGetsTheLockWhenItsHolderCloses() throws {
        // In one round the holder may be gone before the waiter asks; not in all of them.
        for _ in 0..<200 {
            let mode = OpenMode.createIfMissing(.ownerReadWrite)
            let holder = try live.open("lock", in: folder.descriptor, mode)
            let waiter = try live.open("lock", in: folder.descriptor, mode)
            defer { live.close(waiter) }
            #expect(try live.lock(holder, waiting: true))
            let closing = BackgroundThread { live.close(holder) }
            let isTaken = try live.lock(waiter, waiting: true)
            try closing.join()
            #expect(isTaken)
        }
    }

    /// As one stays with a child process that is just being started.
    @Test(arguments: [true, false])
    func aLockIsGivenBackThoughACopyOfItsDescriptorStays(isUnlocked: Bool) throws {
        let mode = OpenMode.createIfMissing(.ownerReadWrite)
        let holder = try live.open("lock", in: folder.descriptor, mode)
        let other = try live.open("lock", in: folder.descriptor, mode)
        defer { live.close(other) }
        #expect(try live.lock(holder, waiting: false))
        let copy = try FileDescriptor(rawValue: holder.rawValue).duplicate()
        if isUnlocked { live.unlock(holder) } else { live.close(holder) }
        // Closing alone would not do.
        #expect(try live.lock(other, waiting: false) == isUnlocked)
        try copy.close()
    }

    @Test func aFolderCanBeLocked() throws {
        let other = try live.open(".", in: folder.descriptor, .directory)
        defer { live.close(other) }
        #expect(try live.lock(folder.descriptor, waiting: false))
        #expect(try live.lock(other, waiting: false) == false)
    }
}
