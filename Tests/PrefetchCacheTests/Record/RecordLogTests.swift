import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// The write-ahead log of the ledger.
@Suite struct RecordLogTests {
    private let container = TemporaryContainer.make()
    private let fileSystem = InterceptingFileSystem()
    private let root: Directory
    private let ledger: Ledger

    init() throws {
        let path = FilePath(container.support.path)
        root = try .openOrCreate(path, permissions: CacheLayout.folderPermissions, in: fileSystem)
        ledger = Ledger(record: Record(in: root, at: path))
    }

    private var logLength: Int64? {
        get throws { try root.fileSystem.attributes(of: "record.sqlite-wal", in: root.descriptor)?.length }
    }

    private func entry(_ number: Int) throws -> LedgerEntry {
        try LedgerEntry(
            committed: ItemKey("https://example.org/articles/\(number)"), named: FileName("Article \(number)")
        )
    }

    /// The flush of a commit that makes the file longer takes longer.
    @Test func theLogIsAsLongFromTheFirstEntryOnAsItEverGets() throws {
        try ledger.put(entry(0))
        let length = try #require(try logLength)
        #expect(length > 256 << 10)
        for number in 1..<500 { try ledger.put(entry(number)) }
        let last = try #require(try logLength)
        #expect(last == length, "\((last - 32) / 4120) pages")
    }

    /// Around the times at which the log begins anew.
    @Test(arguments: [1, 47, 48, 49, 95, 96, 97, 200])
    func aCopyMadeAtAnyTimeHasEveryEntry(count: Int) throws {
        for number in 0..<count { try ledger.put(entry(number)) }
        let copy = container.root.appending(path: "copy.sqlite")
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: container.support.path + "/record.sqlite" + ending, toPath: copy.path + ending)
        }
        #expect(try copy.integer(sql: "SELECT COUNT(*) FROM promotion") == Int64(count))
    }

    /// Without an error every read would go by the bytes from then on, and nobody learn of it.
    @Test(arguments: [(EIO, true), (EMFILE, true), (ENOSPC, false), (EDQUOT, false)])
    func aLogThatCannotBeOpenedIsReportedUnlessThereIsNoRoomForIt(errno: CInt, isReported: Bool) throws {
        try ledger.put(entry(0))
        let other = Ledger(record: Record(in: root, at: FilePath(container.support.path)))
        try SQLiteFaults.failing(.open, of: URL(filePath: container.record.path + "-wal"), errno: errno) {
            if isReported {
                expectError(naming: "SQLite error") { try other.entry(for: entry(0).key) }
            } else {
                let found = try other.entry(for: entry(0).key)
                #expect(try found == entry(0))
            }
        }
        #expect(try other.entry(for: entry(0).key) == entry(0))
        try other.record.close()
    }

    @Test(arguments: [ENOSPC, EDQUOT])
    func aVolumeWithoutRoomIsNamedAsTheCause(errno: CInt) throws {
        try ledger.put(entry(0))
        let file = container.record
        let noRoom = FileSystemError("write", path: FilePath(file.path), errno: .noSpace)
        try SQLiteFaults.failing(.write, of: URL(filePath: file.path + "-wal"), errno: errno) {
            #expect(throws: CacheError.fileSystem(noRoom)) { try ledger.put(entry(1)) }
        }
        try ledger.put(entry(1))
        #expect(try ledger.hashes().count == 2)
    }

    /// What was entered is durable in the log, whatever becomes of the copy.
    @Test func noEntryFailsBecauseTheLogCannotBeCopied() throws {
        try ledger.put(entry(0))
        try ledger.record.checkpoint()
        try SQLiteFaults.failing(.write, of: container.record, errno: EIO) {
            for number in 1..<100 { try ledger.put(entry(number)) }
            #expect(throws: CacheError.self) { try ledger.record.checkpoint() }
            #expect(ledger.record.needsCheckpoint)
        }
        try ledger.record.checkpoint()
        #expect(try ledger.hashes().count == 100)
    }

    @Test func whoeverHasNoRoomForALongLogHasAShortOne() throws {
        fileSystem.fail(.diskQuotaExceeded) { $0.kind == .write && $0.name == "record.sqlite-wal" }
        try ledger.put(entry(0))
        #expect(try ledger.entry(for: entry(0).key) == entry(0))
        #expect(try #require(try logLength) < 64 << 10)
    }

    @Test func manyEntriesAreEnteredTogetherOrNotAtAll() throws {
        try ledger.put((0..<1000).map(entry))
        #expect(try ledger.hashes().count == 1000)
    }

    /// sqlite.org/wal.html#walresetbug
    @Test func theLockIsTakenBeforeAnythingIsEntered() throws {
        try ledger.put(entry(0))
        fileSystem.fail { $0.kind == .lock }
        #expect(throws: CacheError.self) { try ledger.put(entry(1)) }
        #expect(throws: CacheError.self) { try ledger.remove(entry(0)) }
        #expect(throws: CacheError.self) { try ledger.record.checkpoint() }
        fileSystem.intercept { _ in }
        #expect(try ledger.entry(for: entry(1).key) == nil)
        #expect(try ledger.entry(for: entry(0).key) == entry(0))
    }

    @Test func nobodyElseHasTheLockMeanwhile() throws {
        let written = Atomic<Bool>(false)
        @Sendable func isFree() throws -> Bool {
            let other = try fileSystem.open(".", in: root.descriptor, .directory)
            defer { fileSystem.close(other) }
            return try fileSystem.lock(other, waiting: false)
        }
        fileSystem.intercept { operation throws(FileSystemError) in
            guard operation.kind == .write else { return }
            do {
                #expect(try !isFree())
                written.store(true, ordering: .relaxed)
            } catch {
                Issue.record(error)
            }
        }
        try ledger.put(entry(0))
        let wasWritten = written.load(ordering: .relaxed)
        #expect(wasWritten)
        #expect(try isFree())
    }
}
