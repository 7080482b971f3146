import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What is read of a ledger and its log without SQLite is what SQLite reads, whatever became of the log.
@Suite struct RecordImageTests {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    /// The file and the log of a ledger in use, whose log has begun anew.
    private func files(entries: Int) throws -> (file: Data, log: Data) {
        let root = try folder(container.support)
        let ledger = Ledger(record: Record(in: root, at: FilePath(container.support.path)))
        for number in 0..<entries { try ledger.put(entry(number)) }
        try ledger.put((0..<6).map { try entry($0, openedAt: 77) })
        try ledger.remove(entry(entries / 2))
        let files = try ["", "-wal"].map {
            try Data(contentsOf: container.support.appending(path: "record.sqlite\($0)"))
        }
        try ledger.record.close()
        return (files[0], files[1])
    }

    private func folder(_ url: URL) throws -> Directory {
        try .openOrCreate(FilePath(url.path), permissions: .ownerReadWriteExecute, in: LiveFileSystem())
    }

    private func entry(_ number: Int, openedAt: Int64 = 5) throws -> LedgerEntry {
        let name = try FileName("Article \(number)")
        let key = try ItemKey("https://example.org/articles/\(number)")
        return LedgerEntry(
            key: key, state: .committed, mode: .decode, area: .documents, folder: nil, name: name,
            plainName: name,
            backup: .include, contentBytes: 1, contentChecksum: 2,
            stagedName: "\(key.hash.hexadecimal)-0123456789abcdef-7", inode: 3, birthTime: 4,
            openedAt: openedAt)
    }

    /// One of them finds that the image is old, and closes it.
    @Test func severalThreadsReadALedgerThatAnotherProcessWrites() throws {
        let path = FilePath(container.support.path)
        let writer = Ledger(record: Record(in: try folder(container.support), at: path))
        try writer.put(entry(0))
        let looking = try Directory.openOrCreate(
            path, permissions: .ownerReadWriteExecute, in: LookingFileSystem(LiveFileSystem()))
        let reader = Ledger(record: Record(in: looking, at: path))
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for number in 1...60 {
                    if thread == 0 { try writer.put(entry(number)) } else { _ = try reader.hashes() }
                }
            } catch { Issue.record(error) }
        }
        #expect(try reader.hashes().count == 61)
        try reader.record.close()
        try writer.record.close()
    }

    /// What both read of these files; `nil` for an error.
    private func read(_ file: Data, _ log: Data) throws -> (image: [LedgerEntry]?, sqlite: [LedgerEntry]?) {
        let url = container.root.appending(path: "copy-\(UUID().uuidString)", directoryHint: .isDirectory)
        let copy = try folder(url)
        defer { do { try FileManager.default.removeItem(at: url) } catch { Issue.record(error) } }
        try file.write(to: url.appending(path: "record.sqlite"))
        try log.write(to: url.appending(path: "record.sqlite-wal"))
        let image = try entries {
            try RecordImage.open(in: copy, at: FilePath(url.path))
        }
        #expect(try container.files(below: url).count == 2, "reading leaves nothing behind")
        return (image, try entries { try DatabaseQueue(path: url.appending(path: "record.sqlite").path) })
    }

    private func entries(_ open: () throws -> DatabaseQueue) throws -> [LedgerEntry]? {
        do {
            let queue = try open()
            defer { do { try queue.close() } catch { Issue.record(error) } }
            return try queue.read { try Row.fetchAll($0, sql: LedgerEntry.select + " ORDER BY hash") }
                .compactMap(LedgerEntry.init)
        } catch is DatabaseError {
            return nil
        }
    }

    @Test(arguments: [1, 20, 48, 49, 60, 150])
    func everyEntryIsInIt(_ count: Int) throws {
        let (file, log) = try files(entries: count)
        let found = try read(file, log)
        #expect(found.image == found.sqlite)
        #expect(found.image?.count == max(count, 6) - 1)
        #expect(found.image?.count { $0.openedAt == 77 } ?? 0 >= 5)
    }

    @Test func aLogThatEndsAnywhereIsReadAsFarAsItIsWhole() throws {
        let (file, log) = try files(entries: 60)
        var counts: Set<Int> = []
        // Without the optimiser reading takes a second. The last 20 entries or so are in the first 40 frames.
        let (end, step) = TestRun.isLong ? (log.count, 1373) : (40 * (4096 + 24), 12_345)
        for length in stride(from: 0, to: end, by: step) {
            let found = try read(file, log.prefix(length))
            #expect(found.image == found.sqlite, "\(length) bytes")
            counts.insert(found.image?.count ?? -1)
        }
        // Otherwise the log made no difference.
        #expect(counts.count > 8)
    }

    @Test func aFlippedBitEndsIt() throws {
        let (file, log) = try files(entries: 60)
        var generator = SeededGenerator(seed: 1)
        var differences = 0
        let whole = try read(file, log).image
        let flips = TestRun.count(short: 8, long: 150)
        for _ in 0..<flips {
            var damaged = log
            let place = Int.random(in: 0..<24 * (4096 + 24), using: &generator)
            damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            let found = try read(file, damaged)
            #expect(found.image == found.sqlite, "byte \(place)")
            if found.image != whole { differences += 1 }
        }
        #expect(differences > flips / 8)
    }

    /// What becomes of a ledger just when the log is opened for its image.
    enum Change: CaseIterable {
        case entry, newLog, close, visit
    }

    @Test(arguments: 1...3, Change.allCases)
    func aLedgerThatIsChangedMeanwhileIsReadAsItIsAtOneMoment(opening: Int, _ change: Change) throws {
        let path = FilePath(container.support.path)
        let ledger = Ledger(record: Record(in: try folder(container.support), at: path))
        let written = try (0..<100).map { try entry($0, openedAt: 0) }
        // So many are copied at once, and the next change begins the log anew.
        try ledger.put(written)
        let last = Atomic<Int>(0)
        let enter: @Sendable (_ count: Int) throws -> Void = { count in
            for _ in 0..<count {
                let number = last.wrappingAdd(1, ordering: .relaxed).newValue
                let old = written[number * 37 % 100]
                var new = old
                new.openedAt = Int64(number)
                try ledger.make([LedgerChange(old: old, new: new)])
            }
        }
        try enter(10)
        if change == .visit { try ledger.record.close() }

        let openings = CallCounter()
        let fileSystem = InterceptingFileSystem { operation in
            guard operation.kind == .open, operation.name == "record.sqlite-wal",
                openings.next() == opening - 1
            else { return }
            do {
                // With the 48th since it was begun the log is copied, and with the next begun anew.
                try enter(change == .entry ? 1 : 40)
                if change == .close || change == .visit { try ledger.record.close() }
            } catch {
                Issue.record(error)
            }
        }
        let root = try Directory.openOrCreate(path, permissions: .ownerReadWriteExecute, in: fileSystem)
        let found = try RecordImage.open(in: root, at: path).read { database in
            try Row.fetchAll(database, sql: "SELECT key, openedAt FROM promotion").map { row in
                (try row.value(0, as: String.self), try row.value(1, as: Int64.self))
            }
        }
        let moment = try #require(found.map(\.1).max())
        try #require(moment >= 10)
        var expected = Dictionary(uniqueKeysWithValues: written.map { ($0.key.string, Int64(0)) })
        for number in 1...moment { expected[written[Int(number) * 37 % 100].key.string] = number }
        #expect(Dictionary(uniqueKeysWithValues: found) == expected)
        try ledger.record.close()
    }

    /// Before a ledger has its first version there is nothing to be undone.
    @Test func aLedgerThatIsBeingMadeHasNoEntries() throws {
        let url = container.root.appending(path: "copy")
        let copy = try folder(url)
        for length in [0, 4096] {
            try Data(count: length).write(to: url.appending(path: "record.sqlite"))
            try Data(count: 512).write(to: url.appending(path: "record.sqlite-journal"))
            let queue = try RecordImage.open(in: copy, at: FilePath(url.path))
            #expect(try queue.read { try Row.fetchAll($0, sql: LedgerEntry.select) }.isEmpty)
        }
    }

    /// Only SQLite can undo it, and half of it must not be shown.
    @Test func aChangeThatWasInterruptedBeforeThereWasALogIsNotRead() throws {
        // So many that the file, too, has the version.
        let (file, log) = try files(entries: 60)
        let copy = try folder(container.root.appending(path: "copy"))
        let url = container.root.appending(path: "copy")
        try file.write(to: url.appending(path: "record.sqlite"))
        try log.write(to: url.appending(path: "record.sqlite-journal"))
        #expect(throws: RecordImage.Unavailable.self) {
            _ = try RecordImage.open(in: copy, at: FilePath(url.path))
        }
    }
}
