import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Every call of everything that a cache does fails, once or from then on: nothing wrong is served, what was handed
/// over stays, and with a disk that works again everything works, and the books are right.
@Suite struct FaultyDiskTests {
    private struct Fault: CustomStringConvertible {
        let errno: Errno
        let call: Int
        let isSticky: Bool

        var description: String { "\(errno) at call \(call)\(isSticky ? " and ever after" : "")" }

        /// Whether a call of that number and kind fails.
        func hits(_ operation: FileSystemTestSupport.Operation, _ number: Int) -> Bool {
            (isSticky ? number >= call : number == call) && operation.canFail(errno)
        }
    }

    private static let errors: [Errno] = [
        .ioError, .noSpace, .tooManyOpenFiles, .permissionDenied, .readOnlyFileSystem, .ofLockedDevice,
    ]

    /// - Parameter calls: Those of a sound run, of which each can fail with only some errors.
    private static func faults(_ calls: [FileSystemTestSupport.Operation], seed: UInt64) -> [Fault] {
        var random = SeededGenerator(seed: seed)
        let all = errors.flatMap { errno in
            calls.indices.filter { calls[$0].canFail(errno) }.flatMap { call in
                [false, true].map { Fault(errno: errno, call: call, isSticky: $0) }
            }
        }
        // All of them, thousands, would take longer than all other attacks together.
        return Array(
            spread(all, overShapes: { calls[$0.call].shape }, using: &random)
                .prefix(TestRun.count(short: 10, long: 1000)))
    }

    /// What came of a work on a disk of which calls fail.
    private struct Run {
        let work: AttackedWork
        /// All of them, in their order.
        let calls: [FileSystemTestSupport.Operation]
        /// The first that failed.
        let failed: FileSystemTestSupport.Operation?
    }

    /// - Parameter isSwallowing: Whether calls that are to fail are made all the same, as if somebody had swallowed their
    ///   errors.
    private static func run(_ container: TemporaryContainer, _ fault: Fault?, isSwallowing: Bool = false)
        -> Run
    {
        let calls = Mutex<[FileSystemTestSupport.Operation]>([])
        let failed = Mutex<FileSystemTestSupport.Operation?>(nil)
        let fileSystem = InterceptingFileSystem { operation throws(FileSystemError) in
            let number = calls.withLock { calls in
                calls.append(operation)
                return calls.count - 1
            }
            guard let fault, fault.hits(operation, number) else { return }
            failed.withLock { $0 = $0 ?? operation }
            guard !isSwallowing else { return }
            throw FileSystemError("\(operation.kind)", path: FilePath(operation.name), errno: fault.errno)
        }
        let work = AttackedWork(container) { failed.withLock { $0 } }
        work.run(on: fileSystem)
        // Its locks go with the process that could not close it.
        fileSystem.die()
        return Run(work: work, calls: calls.withLock { $0 }, failed: failed.withLock { $0 })
    }

    @Test func nothingIsLostOrWrongAndItWorksAgain() throws {
        let seed = TestRun.seed
        let sound = Self.run(try TemporaryContainer(in: .fastTemporaryFolder), nil)
        #expect(sound.work.failures == [])
        #expect(sound.calls.count > 300)
        var record = AttackRecord("disk.faults", of: "runs of everything of which a call fails")
        for fault in Self.faults(sound.calls, seed: seed) {
            let container = try TemporaryContainer(in: .fastTemporaryFolder)
            let sentinels = try Sentinels(in: container, named: ["text"])
            let run = Self.run(container, fault)
            guard let failed = run.failed else { continue }
            let comment = "\(fault), \(failed), seed \(seed)"
            let swallowed = run.work.swallowedFaults(
                isSticky: fault.isSticky, isOutOfSpace: fault.errno == .noSpace)
            #expect(swallowed == [], "\(comment)")
            let engine = try container.engine()
            try expectBooksAfterMaintenance(engine, container, "\(comment)")
            try engine.close()
            try judge([run.work], sentinels, &record, comment)
        }
        record.report()
        #expect(record.cases > 4)
    }

    /// Works once more on a sound disk, and compares all that was served and handed over.
    private func judge(
        _ works: [AttackedWork], _ sentinels: Sentinels, _ record: inout AttackRecord, _ comment: String
    ) throws {
        guard let container = works.first?.container else { return }
        record.cases += 1
        let next = AttackedWork(container)
        next.run(on: LiveFileSystem())
        #expect(next.failures == [], "\(comment)")
        for work in works + [next] {
            record.note(\.wrongBytes, work.wrongAnswers.count)
            #expect(work.wrongAnswers == [], "\(comment)")
            for (file, content) in work.handedOver {
                let isThere = isSame(FileManager.default.contents(atPath: file.string), content)
                record.note(\.lostPromotions, if: !isThere)
                #expect(isThere, "\(file), \(comment)")
            }
        }
        let touched = try sentinels.touched()
        record.note(\.foreignTouched, touched.count)
        #expect(touched == [], "\(comment)")
    }

    /// Negative control: whoever goes on as if nothing had failed is seen, whether calls go on failing or one alone has.
    @Test func aSwallowedFaultIsNoticed() throws {
        let calls = Self.run(try TemporaryContainer(in: .fastTemporaryFolder), nil).calls.count
        for isSticky in [true, false] {
            let isNoticed = try stride(from: 20, to: calls, by: 7).contains { call in
                let fault = Fault(errno: .ioError, call: call, isSticky: isSticky)
                let container = try TemporaryContainer(in: .fastTemporaryFolder)
                let work = Self.run(container, fault, isSwallowing: true).work
                return !work.swallowedFaults(isSticky: isSticky, isOutOfSpace: false).isEmpty
            }
            #expect(isNoticed, "sticky: \(isSticky)")
        }
    }

    // MARK: SQLite

    /// A call of SQLite's fails, of the catalog or of the ledger, which do not go through our file system.
    @Test(arguments: [CacheLayout.catalog, CacheLayout.record])
    func neitherIsAnythingWhereADatabaseFails(database: String) throws {
        var record = AttackRecord("disk.faults-of-sqlite", of: "runs of everything of which a call fails")
        let calls = try run(database, EIO, calls: 0..<0).calls
        #expect(calls > 0)
        var random = SeededGenerator(seed: TestRun.seed)
        let faults = [EIO, ENOSPC].flatMap { errno in
            (0..<calls).flatMap { [(errno, $0..<$0 + 1), (errno, $0..<Int.max)] }
        }
        let count = TestRun.count(short: 2, long: faults.count)
        for (errno, calls) in faults.shuffled(using: &random).prefix(count) {
            let (work, sentinels, _) = try run(database, errno, calls: calls)
            try judge([work], sentinels, &record, "\(database), errno \(errno), writes \(calls)")
        }
        record.report()
        #expect(record.isHarmless)
    }

    /// - Parameter calls: Which of the writes to the database fail.
    private func run(_ database: String, _ errno: CInt, calls: Range<Int>) throws -> (
        work: AttackedWork, sentinels: Sentinels, calls: Int
    ) {
        let container = try TemporaryContainer(in: .fastTemporaryFolder)
        let sentinels = try Sentinels(in: container, named: ["text"])
        let engine = try container.engine()
        try engine.store(AttackedWork.text, "first")
        #expect(try engine.open("first").value != nil)
        try engine.close()
        let work = AttackedWork(container)
        let folder = database == CacheLayout.catalog ? container.caches : container.support
        let count = try SQLiteFaults.failing(
            .write, of: folder.appending(path: database), errno: errno, in: calls
        ) { work.run(on: LiveFileSystem()) }
        return (work, sentinels, count)
    }

    // MARK: Volumes

    private static let filling = noise(30_000)

    /// A volume of 1 MB, which fills up: not even its catalog has room for long.
    @Test(.enabled(if: SmallVolume.kinds.contains(.tmpfs), "Mounting a volume needs root on Linux."))
    func aTinyVolumeThatFillsUpLosesNothing() throws {
        var record = AttackRecord("disk.tiny-volume", of: "runs of everything on a volume that is full")
        let amounts: [Int64] = TestRun.isLong ? [700, 300, 100, 40, 8, 0] : [300, 0]
        for left in amounts {
            let volume = try SmallVolume(.tmpfs, megabytes: 1)
            let container = try TemporaryContainer(in: volume.root)
            let sentinels = try Sentinels(in: container, named: ["text"])
            try volume.leave(left << 10)
            let work = AttackedWork(container)
            work.run(on: LiveFileSystem())
            // As many items as there is room for.
            var isFull = false
            for number in 0..<100 where !isFull { isFull = try !isStored(number, in: container) }
            #expect(isFull, "\(left) KiB")
            try volume.leave(900 << 10)
            let engine = try container.engine()
            _ = try engine.evict(.max)
            try engine.close()
            try judge([work], sentinels, &record, "\(left) KiB were left")
        }
        record.report()
        #expect(record.isHarmless)
    }

    /// - Returns: Whether an item was stored, and is there; else that was refused or failed for want of room.
    private func isStored(_ number: Int, in container: TemporaryContainer) throws -> Bool {
        do {
            let engine = try container.engine()
            let key = try ItemKey(number: number)
            guard try engine.store(Self.filling, key).isStored else { return false }
            #expect(try engine.content(key) == Self.filling)
            try engine.close()
            return true
        } catch let error as CacheError {
            // A database says no more than that it failed.
            switch error {
            case .fileSystem(let error): #expect(error.isOutOfSpace, "\(error)")
            case .database: break
            default: Issue.record(error)
            }
            return false
        }
    }

    @Test(.enabled(if: SmallVolume.kinds.contains(.ext4), "Mounting a volume needs root on Linux."))
    func aVolumeThatBecomesReadOnlyLosesNothing() throws {
        let volume = try SmallVolume(.ext4, megabytes: 32)
        let container = try TemporaryContainer(in: volume.root)
        let engine = try container.engine()
        for key in ["opened", "cached", "other"] as [ItemKey] { try engine.store(prose(50_000), key) }
        let opened = try #require(try engine.open("opened").value)
        var record = AttackRecord("disk.read-only", of: "volumes that turn read-only", cases: 1)
        try engine.flush()
        try volume.becomeReadOnly()

        #expect(throws: CacheError.self) { try engine.store(prose(5000), "new") }
        #expect(try engine.content("cached") == prose(50_000))
        #expect(try engine.open("opened").value?.path == opened.path)
        #expect(throws: CacheError.self) { try engine.open("cached") }
        record.note(\.wrongBytes, if: try engine.content("cached") != prose(50_000))
        record.note(\.lostPromotions, if: try Data(contentsOf: opened.url) != prose(50_000))
        #expect(throws: CacheError.self) { try engine.close() }
        #expect(record.isHarmless)
        record.report()
    }
}

extension FileSystemTestSupport.Operation {
    /// Whether the kernel answers such a call with that error.
    fileprivate func canFail(_ errno: Errno) -> Bool {
        switch errno {
        case .noSpace: [.write, .rename, .resize, .makeDirectory, .allocate].contains(kind) || isCreating
        case .tooManyOpenFiles: [.open, .entries].contains(kind)
        case .permissionDenied: [.open, .unlink, .rename, .makeDirectory, .entries].contains(kind)
        case .readOnlyFileSystem: isChange && kind != .synchronize
        case .ofLockedDevice: [.open, .read, .write].contains(kind)
        default: kind != .commit
        }
    }
}
