import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Files whose content is stored, and that are removed then if their caller hands them over.
@Suite struct FileTests {
    /// Longer than what is always verified, with an incomplete last chunk.
    static let content = noise((5 << 20) + 70_000)

    /// A container, and a file next to it on the same volume.
    private struct Setting {
        let container: TemporaryContainer
        let file: URL

        init(
            _ content: Data = FileTests.content, in folder: URL = FileManager.default.temporaryDirectory
        ) throws {
            container = try TemporaryContainer(in: folder)
            file = container.root.appending(path: "download.tmp")
            try content.write(to: file)
        }

        func handOver(
            to engine: Engine, intent: Intent = .opportunistic, checking check: ContentCheck = ContentCheck()
        ) throws -> StoreOutcome {
            try engine.store(
                contentsOf: FilePath(file.path), as: ItemMetadata("key", intent: intent), checking: check,
                isHandedOver: true)
        }

        var found: Data? { FileManager.default.contents(atPath: file.path) }

        /// The books are right once the process has ended.
        func expectBooks(_ engine: Engine, _ comment: Comment? = nil) throws {
            try engine.close()
            #expect(try container.partials() == [], comment)
            try expectBooksLikeDisk(container.engine(), container, comment)
        }
    }

    @Test(arguments: [
        noise(0), noise(1), noise(1 << 20), noise((1 << 20) + 1), noise(2 << 20), noise((2 << 20) + 1),
        content,
        prose(3 << 20),
    ])
    func itIsStoredAndRemoved(content: Data) throws {
        let setting = try Setting(content)
        let engine = try setting.container.engine()
        // An older item, and what is kept of an earlier download, give way.
        try engine.store(noise(100_000, seed: 9), "key")
        try engine.keep(noise(3 << 20, seed: 9), "key")
        let summary = try #require(try setting.handOver(to: engine).stored)
        #expect(summary.contentBytes == Int64(content.count))
        #expect(try isSame(engine.content("key"), content))
        #expect(!setting.file.exists)
        try setting.expectBooks(engine)
    }

    @Test func withoutBeingHandedOverItStays() throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        #expect(
            try engine.store(contentsOf: FilePath(setting.file.path), as: ItemMetadata("key")).isStored)
        #expect(isSame(setting.found, Self.content))
    }

    @Test func aUserRequestedFileGoesToItsDestination() throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        let file = try #require(try setting.handOver(to: engine, intent: .userRequested).delivered)
        #expect(try isSame(Data(contentsOf: file.url), Self.content))
        #expect(!setting.file.exists)
    }

    @Test(arguments: [false, true]) func whatIsRefusedStays(isPromoted: Bool) throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        if isPromoted {
            try engine.store(noise(1000), "key")
            _ = try engine.open("key")
        } else {
            try engine.configure(.fixed(.mebibytes(2)))
        }
        #expect(try setting.handOver(to: engine).refusal != nil)
        #expect(isSame(setting.found, Self.content))
        try setting.expectBooks(engine)
    }

    /// Where there are clones the item is one: what a program that still has the file open writes does not reach it.
    @Test(.enabled(if: !SmallVolume.cloning.isEmpty), arguments: SmallVolume.cloning)
    func aCloneIsOutOfReach(_ kind: SmallVolume.Kind) throws {
        let volume = try SmallVolume(kind, megabytes: kind.leastMegabytes)
        let setting = try Setting(in: volume.root)
        let other = setting.container.root.appending(path: "other link")
        try FileManager.default.linkItem(at: setting.file, to: other)
        let engine = try setting.container.engine()
        #expect(try setting.handOver(to: engine).isStored)
        #expect(!setting.file.exists)
        try other.overwrite(Data(count: 1 << 20))
        #expect(try isSame(engine.content("key"), Self.content))
        #expect(try Data(contentsOf: other).count == Self.content.count)
        try setting.expectBooks(engine)
    }

    @Test func whatIsWrittenMeanwhileIsNotStored() throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        let file = setting.file
        let check = ContentCheck(look: { _ in
            do { try file.overwrite(Data("other".utf8)) } catch { Issue.record(error) }
        })
        #expect(throws: CacheError.fileChanged(file.path)) {
            try setting.handOver(to: engine, checking: check)
        }
        #expect(try engine.content("key") == nil)
        #expect(isSame(setting.found, Data("other".utf8) + Self.content.dropFirst(5)))
        try setting.expectBooks(engine)
    }

    @Test func whatReplacesItBeforeItIsRemovedStays() throws {
        let setting = try Setting()
        let fileSystem = InterceptingFileSystem()
        let engine = try setting.container.engine(fileSystem: fileSystem)
        let file = setting.file
        fileSystem.intercept { operation in
            guard operation.kind == .rename else { return }
            do {
                try Data("the user's".utf8).write(to: file, options: .atomic)
            } catch { Issue.record(error) }
        }
        #expect(try setting.handOver(to: engine).isStored)
        fileSystem.intercept { _ in }
        #expect(try isSame(engine.content("key"), Self.content))
        #expect(setting.found == Data("the user's".utf8))
        try setting.expectBooks(engine)
    }

    /// At every call: the content is at its old place or an item.
    @Test func aProcessMayDieAtEveryCall() throws {
        for number in TestRun.numbers(every: 1) {
            let content = noise((2 << 20) + 70_000)
            let setting = try Setting(content, in: .fastTemporaryFolder)
            let fileSystem = InterceptingFileSystem()
            var engine = try setting.container.engine(fileSystem: fileSystem)
            let (count, log) = (CallCounter(), OperationLog())
            fileSystem.intercept { [weak fileSystem] operation in
                guard operation.isChange || operation.kind == .lock, count.next() == number else { return }
                log.add(operation)
                fileSystem?.die()
            }
            do { _ = try setting.handOver(to: engine) } catch { #expect(error is CacheError) }
            fileSystem.intercept { _ in }
            guard let operation = log.operations.first else { return #expect(number > 8) }
            let comment = Comment(rawValue: "at call \(number), \(operation)")
            engine = try setting.container.engine()
            try engine.maintain()
            let stored = try engine.content("key")
            if let stored { #expect(isSame(stored, content), comment) }
            if setting.file.exists { #expect(isSame(setting.found, content), comment) }
            #expect(setting.file.exists || stored != nil, comment)
            try setting.expectBooks(engine, comment)
        }
    }
}

extension SmallVolume {
    /// Those whose files can share blocks.
    static let cloning = all.filter { [.xfs, .btrfs].contains($0) }
}
