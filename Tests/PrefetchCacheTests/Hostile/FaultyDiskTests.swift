import FileSystem
import FileSystemTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCache

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
        .ioError, .noSpace, .tooManyOpenFiles, .permissionDenied, .readOnlyFileSystem,
    ]

    private static func faults(_ calls: Int, seed: UInt64) -> [Fault] {
        var random = SeededGenerator(seed: seed)
        let all = errors.flatMap { errno in
            (0..<calls).flatMap { call in
                [false, true].map { Fault(errno: errno, call: call, isSticky: $0) }
            }
        }
        return Array(
            all.shuffled(using: &random)
                .prefix(TestRun.count(debug: 16, optimised: 400, long: all.count)))
    }

    /// - Returns: How many calls there were, and which was the first that failed.
    private static func run(_ work: AttackedWork, _ fault: Fault?) -> (calls: Int, failed: String?) {
        let count = Atomic(0)
        let failed = Mutex<String?>(nil)
        let fileSystem = InterceptingFileSystem { operation throws(FileSystemError) in
            let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
            guard let fault, fault.hits(operation, number) else { return }
            failed.withLock { $0 = $0 ?? "\(operation)" }
            throw FileSystemError("\(operation.kind)", path: FilePath(operation.name), errno: fault.errno)
        }
        work.run(on: fileSystem)
        // Its locks go with the process that could not close it.
        fileSystem.die()
        return (count.load(ordering: .relaxed), failed.withLock { $0 })
    }

    @Test func nothingIsLostOrWrongAndItWorksAgain() throws {
        let seed = TestRun.seed
        let sound = AttackedWork(try TemporaryContainer(in: .fastTemporaryFolder))
        let calls = Self.run(sound, nil).calls
        #expect(sound.failures == [])
        #expect(calls > 200)
        var record = AttackRecord("disk.faults")
        for fault in Self.faults(calls, seed: seed) {
            let container = try TemporaryContainer(in: .fastTemporaryFolder)
            let work = AttackedWork(container)
            guard let failed = Self.run(work, fault).failed else { continue }
            record.cases += 1
            let comment: Comment = "\(fault), \(failed), seed \(seed)"
            let engine = try container.engine()
            try engine.maintain()
            try expectBooksLikeDisk(engine, container, comment)
            try engine.close()
            let next = AttackedWork(container)
            next.run(on: LiveFileSystem())
            #expect(next.failures == [], comment)
            #expect(work.wrongAnswers + next.wrongAnswers == [], comment)
            record.wrongBytes += work.wrongAnswers.count + next.wrongAnswers.count
            for (file, content) in work.handedOver {
                let isThere = isSame(FileManager.default.contents(atPath: file.string), content)
                #expect(isThere, "\(file), \(fault), seed \(seed)")
                if !isThere { record.lostPromotions += 1 }
            }
        }
        record.report()
        #expect(record.cases > 5)
    }

    @Test(.enabled(if: SmallVolume.kinds.contains(.ext4), "Mounting a volume needs root on Linux."))
    func aVolumeThatBecomesReadOnlyLosesNothing() throws {
        let volume = try SmallVolume(.ext4, megabytes: 32)
        let container = try TemporaryContainer(in: volume.root)
        let engine = try container.engine()
        for key in ["opened", "cached", "other"] as [ItemKey] { try engine.store(prose(50_000), key) }
        let opened = try #require(try engine.open("opened").value)
        try engine.flush()
        try volume.becomeReadOnly()

        #expect(throws: CacheError.self) { try engine.store(prose(5000), "new") }
        #expect(try engine.content("cached") == prose(50_000))
        #expect(try engine.open("opened").value?.path == opened.path)
        #expect(throws: CacheError.self) { try engine.open("cached") }
        #expect(try engine.content("cached") == prose(50_000))
        #expect(try Data(contentsOf: opened.url) == prose(50_000))
        #expect(throws: CacheError.self) { try engine.close() }
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
        default: kind != .commit
        }
    }
}
