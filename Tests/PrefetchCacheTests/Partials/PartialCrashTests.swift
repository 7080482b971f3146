import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Partials, when their process dies or is failed by the system at any call.
@Suite struct PartialCrashTests {
    private static let content = noise((3 << 20) + 70_000)

    /// Begins, breaks off, goes on, breaks off, goes on and completes; and then keeps another item, which
    /// makes room for a third.
    private static func work(_ engine: Engine) throws {
        let content = content
        let first = try begin("key", expectedLength: nil, engine)
        try append(content.prefix(1_500_000), to: first)
        _ = try first.suspend()
        try engine.flush()
        for end in [2_500_000, content.count] {
            guard let partial = try engine.partial(of: "key"),
                case .begun(let store) = try engine.resume(partial, replay: { _ in })
            else { return }
            try append(content[Int(store.contentBytes)..<end], to: store)
            if end == content.count { _ = try store.commit() } else { _ = try store.suspend() }
        }
        let other = try begin("other", expectedLength: 2 << 20, engine)
        try append(content.prefix(1_200_000), to: other)
        _ = try other.suspend()
        _ = try begin("other", expectedLength: nil, engine).suspend()
        try engine.flush()
    }

    /// What is refused because of a fault ends the work.
    private static func begin(_ key: ItemKey, expectedLength: Int64?, _ engine: Engine)
        throws -> UnfinishedStore
    {
        guard
            case .begun(let store) = try engine.beginStore(
                ItemMetadata(key), encoding: .forced(.identity), expectedLength: expectedLength,
                keepingPartial: true)
        else { throw CacheError.writerIsFinished }
        return store
    }

    private static func append(_ content: Data, to store: UnfinishedStore) throws {
        guard try store.offer(content) == nil else { throw CacheError.writerIsFinished }
    }

    /// What must hold whatever has happened: nothing wrong is served, the books agree with the disk, nothing is
    /// left behind, and the work can be done.
    private static func judge(_ container: TemporaryContainer, _ moment: String) throws {
        let comment = Comment(rawValue: moment)
        let engine = try container.engine()
        try expectBooksLikeDisk(engine, container, comment)
        #expect(try container.chargedOnDisk() <= 8 << 20, comment)
        if let partial = try engine.partial(of: "key") {
            let replay = Replay()
            let resumed = try engine.resume(partial, replay: { replay.add($0) })
            let store = try #require(resumed?.begun, comment)
            #expect(isSame(replay.content, content.prefix(Int(store.contentBytes))), comment)
            #expect(store.contentBytes == partial.contentBytes, comment)
            try append(content.dropFirst(Int(store.contentBytes)), to: store)
            _ = try store.commit()
            #expect(try isSame(engine.content("key"), content), comment)
        } else if let stored = try engine.content("key") {
            #expect(isSame(stored, content), comment)
        }
        for name in try container.partials() {
            #expect(CacheLayout.hash(ofKeptPartial: FilePath.Component(name) ?? "?") != nil, comment)
        }
        try expectBooksAfterMaintenance(engine, container, comment)
        _ = try engine.remove("key")
        try work(engine)
        #expect(try isSame(engine.content("key"), content), comment)
        _ = try engine.evict(.max)
        #expect(try container.partials() == [], comment)
        try engine.close()
        try expectBooksLikeDisk(try container.engine(), container, comment)
    }

    private static let interrupted = InterruptedWork(
        container: {
            try TemporaryContainer(in: .fastTemporaryFolder, budget: .mebibytes(8))
        }, work: work, judge: judge)

    /// Ordinary ones, and those of items that the user asked for.
    enum Kind: CaseIterable {
        case ordinary, staged

        var interrupted: InterruptedWork {
            switch self {
            case .ordinary: PartialCrashTests.interrupted
            case .staged: StagedPartialWork.interrupted
            }
        }
    }

    @Test(arguments: Kind.allCases) func aProcessMayDieAtEveryCall(kind: Kind) throws {
        let calls = try kind.interrupted.killed(every: 5)
        print("partials, \(kind): killed at \(calls) calls")
        #expect(calls > 50)
    }

    @Test(arguments: Kind.allCases, [Errno.ioError, .noSpace, .permissionDenied])
    func everyCallMayFailOnce(kind: Kind, errno: Errno) throws {
        let calls = try kind.interrupted.failed(with: errno, every: 10)
        print("partials, \(kind): \(errno) at \(calls) calls")
        #expect(calls > 30)
    }

    /// And the same process goes on.
    @Test(arguments: [Errno.ioError, .noSpace])
    func afterAFaultTheSameProcessStoresIt(errno: Errno) throws {
        for number in TestRun.numbers(every: 10) {
            let container = try Self.interrupted.container()
            let fileSystem = InterceptingFileSystem()
            let engine = try container.engine(fileSystem: fileSystem)
            let count = CallCounter()
            fileSystem.fail(errno) { $0.canFail(with: errno) && count.next() == number }
            Self.interrupted.attempt(engine)
            fileSystem.intercept { _ in }
            guard count.next() > number else { return #expect(number > 30) }
            try Self.work(engine)
            #expect(try isSame(engine.content("key"), Self.content), "at call \(number)")
            try engine.maintain()
            #expect(try engine.statistics().chargedBytes <= container.chargedOnDisk(), "at call \(number)")
            try engine.close()
            try expectBooksLikeDisk(try container.engine(), container, "at call \(number)")
        }
    }
}

/// What the loss of power leaves of a partial, on a simulated disk.
@Suite struct PartialPowerTests {
    private static let content = noise(3 << 20)

    /// Keeps an item without the books, which have no place on such a disk.
    private func history() throws -> SimulatedHistory {
        let world = SimulatedWorld()
        let engine = try world.engine()
        engine.catalog.inMemory { $0.allowance.add(1 << 30) }
        world.fileSystem.settle()
        let store = try engine.beginKept("key")
        for piece in 0..<3 { try store.append(Self.content.subdata(in: piece << 20..<(piece + 1) << 20)) }
        _ = try store.suspend()
        return world.fileSystem.history
    }

    @Test func whatIsNotSoundIsNeverHandedOut() throws {
        var random = SeededGenerator(seed: 7)
        var (states, sound, unsound) = (0, 0, 0)
        for moment in try history().moments {
            for disk in moment.disks(limit: 48, using: &random) {
                let fileSystem = SimulatedFileSystem(disk)
                let incoming = SimulatedWorld.areas.caches.appending("PrefetchCache/incoming")
                let folder = Directory(
                    try fileSystem.open(incoming, in: .workingDirectory, .directory), of: fileSystem)
                states += 1
                guard let verdict = try judge(folder) else { continue }
                sound += verdict.sound
                unsound += verdict.claimed - verdict.sound
            }
        }
        print("partials: \(states) disks, \(sound) sound chunks, \(unsound) others")
        // Without the look at the chunks these would have been taken for whole ones.
        #expect(sound > 0 && unsound > 0)
    }

    /// - Returns: How many chunks the journal claims, and how many of them are there; `nil` without a journal.
    private func judge(_ folder: Directory) throws -> (claimed: Int, sound: Int)? {
        let hash = ItemKey(stringLiteral: "key").hash
        let files = PartialFiles(incoming: folder)
        guard let file = try files.openJournal(hash), try files.lengthOfChunks(hash) != nil else {
            return nil
        }
        let journal: PartialJournal
        do {
            journal = try PartialJournal(of: file, in: folder.fileSystem)
        } catch ItemFormatError.damaged {
            return nil
        }
        #expect(journal.metadata.key == "key")
        let chunks = try folder.fileSystem.open(
            CacheLayout.keptPartial(of: hash), in: folder.descriptor, .read)
        let replay = Replay()
        let count = try journal.verify(
            in: chunks, of: folder.fileSystem, codecs: CodecPool(parallelism: 1)
        ) { replay.add($0) }
        let isSound = isSame(replay.content, Self.content.prefix(count << 20))
        #expect(isSound)
        return (journal.chunks.count, count)
    }
}
