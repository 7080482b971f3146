import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Files that are handed over to a process that dies or is failed by the system at any call.
@Suite struct MovingCrashTests {
    private static let content = noise((2 << 20) + 70_000)

    private static let metadata = ItemMetadata(
        "key", validator: Validator(entityTag: "\"1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"))

    /// A fault at every call that is meant, in turn.
    ///
    /// - Parameter hand: Called before each change.
    /// - Returns: How many calls there are.
    private static func calls(
        of content: Data = content,
        beside hand: @escaping @Sendable (FileSystemTestSupport.Operation, URL) -> Void = { _, _ in },
        _ fault: @escaping @Sendable (InterceptingFileSystem) throws(FileSystemError) -> Void,
        where isMeant: @escaping OperationTest,
        judging judge: (TemporaryContainer, URL, StoreOutcome?, Comment) throws -> Void
    ) throws -> Int {
        for number in TestRun.numbers(every: 1) {
            let container = try TemporaryContainer(in: .fastTemporaryFolder)
            let file = container.root.appending(path: "download.tmp")
            try content.write(to: file)
            let fileSystem = InterceptingFileSystem()
            let engine = try container.engine(fileSystem: fileSystem)
            let (count, log) = (CallCounter(), OperationLog())
            fileSystem.intercept { [weak fileSystem] operation throws(FileSystemError) in
                hand(operation, file)
                guard let fileSystem, isMeant(operation), count.next() == number else { return }
                log.add(operation)
                try fault(fileSystem)
            }
            var outcome: StoreOutcome?
            do {
                outcome = try engine.store(moving: FilePath(file.path), as: metadata)
            } catch { outcome = nil }
            fileSystem.intercept { _ in }
            guard let operation = log.operations.first else { return number }
            let comment = Comment(rawValue: "at call \(number), \(operation)")
            fileSystem.die()
            try judge(container, file, outcome, comment)
        }
        return 0
    }

    /// The content is at its old place or an item.
    private static func expectNotLost(_ container: TemporaryContainer, _ file: URL, _ comment: Comment) throws
    {
        let engine = try container.engine()
        try engine.maintain()
        let found = FileManager.default.contents(atPath: file.path)
        let stored = try engine.content("key")
        if let stored { #expect(isSame(stored, content), comment) }
        if let found { #expect(isSame(found, content), comment) }
        try expectBooksLikeDisk(engine, container, comment)
        #expect(found != nil || stored != nil, comment)
        try engine.close()
        try expectBooksLikeDisk(container.engine(), container, comment)
    }

    @Test func aProcessMayDieAtEveryCall() throws {
        let calls = try Self.calls(
            { $0.die() }, where: { $0.isChange || $0.kind == .lock },
            judging: { container, file, _, comment in try Self.expectNotLost(container, file, comment) })
        #expect(calls > 8)
    }

    /// Is there once the user has saved.
    private static func sign(_ file: URL) -> URL { file.appendingPathExtension("saved") }

    /// What is compressed is moved aside before it is removed, and may be a version that the user has just saved.
    @Test(arguments: [false, true]) func whatWasMovedAsideIsRemovedOrPutBack(isSavedMeanwhile: Bool) throws {
        let (content, newer) = (prose((2 << 20) + 70_000), prose(3 << 20))
        let calls = try Self.calls(
            of: content,
            beside: { operation, file in
                let sign = Self.sign(file)
                guard isSavedMeanwhile, operation.kind == .rename, operation.name.hasSuffix("download.tmp"),
                    !sign.exists
                else { return }
                do {
                    try newer.write(to: file, options: .atomic)
                    try sign.place("saved")
                } catch { Issue.record(error) }
            }, { $0.die() }, where: { $0.isChange },
            judging: { container, file, _, comment in
                let engine = try container.engine()
                try engine.maintain()
                let found = FileManager.default.contents(atPath: file.path)
                if Self.sign(file).exists {
                    #expect(isSame(found, newer), comment)
                } else if let found {
                    #expect(isSame(found, content), comment)
                } else {
                    #expect(try isSame(engine.content("key"), content), comment)
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: container.root.path)
                #expect(!names.contains { $0.hasPrefix(".") }, "\(names), \(comment)")
            })
        #expect(calls > 8)
    }

    @Test(arguments: [Errno.ioError, .noSpace, .permissionDenied])
    func everyCallMayFailOnce(errno: Errno) throws {
        let calls = try Self.calls(
            { _ throws(FileSystemError) in throw FileSystemError("test", errno: errno) },
            where: { $0.canFail(with: errno) },
            judging: { container, file, outcome, comment in
                let found = FileManager.default.contents(atPath: file.path)
                // Unless it was stored it is where it was. One exception: the item is in its place, and it is not
                // known whether the key was opened meanwhile.
                let isItem = container.item("key").exists
                if outcome?.isStored != true, !isItem { #expect(isSame(found, Self.content), comment) }
                try Self.expectNotLost(container, file, comment)
            })
        #expect(calls > 8)
    }
}
