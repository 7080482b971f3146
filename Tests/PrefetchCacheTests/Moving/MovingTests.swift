import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Files that callers hand over.
@Suite struct MovingTests {
    /// Longer than what is always verified, with an incomplete last chunk.
    static let content = noise((5 << 20) + 70_000)

    /// A container, and a file next to it on the same volume.
    private struct Setting {
        let container: TemporaryContainer
        let file: URL

        init(
            _ content: Data = MovingTests.content, in folder: URL = FileManager.default.temporaryDirectory
        ) throws {
            container = try TemporaryContainer(in: folder)
            file = container.root.appending(path: "download.tmp")
            try content.write(to: file)
        }

        var path: FilePath { FilePath(file.path) }

        func attributes(_ url: URL? = nil) throws -> FileAttributes? {
            try LiveFileSystem().attributes(of: FilePath((url ?? file).path), in: .workingDirectory)
        }

        /// Nothing was stored, and the file is as it was.
        func expectUntouched(
            _ engine: Engine, since before: FileAttributes?, _ content: Data = MovingTests.content
        ) throws {
            #expect(try attributes() == before)
            #expect(try isSame(Data(contentsOf: file), content))
            #expect(try engine.content("key") == nil)
            #expect(try container.partials() == [])
            try expectBooks(engine)
        }

        /// The books are right once the process has ended.
        func expectBooks(_ engine: Engine, _ comment: Comment? = nil) throws {
            try engine.close()
            try expectBooksLikeDisk(container.engine(), container, comment)
        }
    }

    // MARK: What is moved

    @Test func whatDoesNotCompressIsStoredAsItIs() throws {
        let setting = try Setting()
        let before = try #require(try setting.attributes())
        let engine = try setting.container.engine()
        let outcome = try engine.store(moving: setting.path, as: ItemMetadata("key"))
        let summary = try #require(outcome.stored)
        #expect(summary.encoding == .identity && summary.contentBytes == before.length)
        #expect(try setting.attributes() == nil)
        let item = try #require(try setting.attributes(setting.container.item("key")))
        #expect(item.permissions == [.ownerReadWrite] && item.length == summary.storedBytes)
        #expect(try isSame(engine.content("key"), Self.content))
        #expect(try setting.container.partials() == [])
        let opened = try #require(try engine.open("key").value)
        #expect(try isSame(Data(contentsOf: opened.url), Self.content))
        try setting.expectBooks(engine)
    }

    @Test(arguments: [0, 1, 1 << 20, (1 << 20) + 1, 2 << 20, (2 << 20) + 1])
    func everyLengthIsStored(length: Int) throws {
        let content = noise(length)
        let setting = try Setting(content)
        let engine = try setting.container.engine()
        #expect(try engine.store(moving: setting.path, as: ItemMetadata("key")).isStored)
        #expect(try isSame(engine.content("key"), content))
        #expect(try setting.attributes() == nil)
        try setting.expectBooks(engine)
    }

    @Test func whatCompressesIsCompressedAndRemoved() throws {
        let content = prose(3 << 20)
        let setting = try Setting(content)
        let engine = try setting.container.engine()
        let summary = try #require(try engine.store(moving: setting.path, as: ItemMetadata("key")).stored)
        #expect(summary.encoding == .lz4)
        #expect(try isSame(engine.content("key"), content))
        #expect(try setting.attributes() == nil)
    }

    @Test func anOlderItemIsReplaced() throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        try engine.store(noise(100_000, seed: 9), "key")
        #expect(try engine.store(moving: setting.path, as: ItemMetadata("key")).isStored)
        #expect(try isSame(engine.content("key"), Self.content))
        try setting.expectBooks(engine)
    }

    @Test func whatIsKeptOfAnEarlierDownloadIsDropped() throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        try engine.keep(noise(3 << 20, seed: 9), "key")
        #expect(try engine.store(moving: setting.path, as: ItemMetadata("key")).isStored)
        #expect(try isSame(engine.content("key"), Self.content))
        try setting.expectBooks(engine)
    }

    @Test func aUserRequestedFileGoesToItsDestination() throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        let metadata = ItemMetadata("key", intent: .userRequested)
        let file = try #require(try engine.store(moving: setting.path, as: metadata).delivered)
        #expect(try isSame(Data(contentsOf: file.url), Self.content))
        #expect(try setting.attributes() == nil)
    }

    // MARK: Volumes

    /// Where there are clones the item is one: what a program that still has the file open writes does not reach it.
    @Test(.enabled(if: !SmallVolume.cloning.isEmpty), arguments: SmallVolume.cloning)
    func aCloneIsOutOfReach(_ kind: SmallVolume.Kind) throws {
        let volume = try SmallVolume(kind, megabytes: kind.leastMegabytes)
        let setting = try Setting(in: volume.root)
        let other = setting.container.root.appending(path: "other link")
        try FileManager.default.linkItem(at: setting.file, to: other)
        let engine = try setting.container.engine()
        #expect(try engine.store(moving: setting.path, as: ItemMetadata("key")).isStored)
        #expect(try setting.attributes() == nil)
        try other.overwrite(Data(count: 1 << 20))
        #expect(try isSame(engine.content("key"), Self.content))
        #expect(try setting.attributes(other)?.length == Int64(Self.content.count))
        try setting.expectBooks(engine)
    }

    @Test(.enabled(if: MountedFolder.isPossible)) func aFileOfAnotherVolumeIsCopied() throws {
        let setting = try Setting()
        let mount = try MountedFolder(.tmpfs, at: setting.container.root.appending(path: "elsewhere"))
        try withExtendedLifetime(mount) {
            let file = setting.container.root.appending(path: "elsewhere/file")
            try setting.file.move(to: file)
            let engine = try setting.container.engine()
            #expect(try engine.store(moving: FilePath(file.path), as: ItemMetadata("key")).isStored)
            #expect(try isSame(engine.content("key"), Self.content))
            #expect(try setting.attributes(file) == nil)
        }
    }

    // MARK: What is refused stays

    @Test func aRefusedFileStays() throws {
        let setting = try Setting()
        let before = try setting.attributes()
        let engine = try setting.container.engine()
        try engine.configure(.fixed(.mebibytes(2)))
        #expect(try engine.store(moving: setting.path, as: ItemMetadata("key")).refusal != nil)
        try setting.expectUntouched(engine, since: before)
    }

    @Test func whatTheUserHasStays() throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        try engine.store(noise(1000), "key")
        _ = try engine.open("key")
        #expect(try engine.store(moving: setting.path, as: ItemMetadata("key")) == .refused(.alreadyPromoted))
        #expect(try isSame(Data(contentsOf: setting.file), Self.content))
    }

    @Test(arguments: ["link", "pipe", "folder", "missing", "..", "folder/.."])
    func onlyRegularFilesAreMoved(name: String) throws {
        let setting = try Setting()
        let root = setting.container.root
        let link = root.appending(path: "link")
        try link.makeLink(to: setting.file)
        #expect(mkfifo(root.appending(path: "pipe").path, 0o600) == 0)
        let folder = root.appending(path: "folder")
        try folder.makeFolder()
        let before = try setting.attributes()
        let engine = try setting.container.engine()
        let path = FilePath(root.path + "/" + name)
        let error = #expect(throws: CacheError.self) {
            try engine.store(moving: path, as: ItemMetadata("key"))
        }
        if name == "missing" {
            guard case .fileSystem? = error else { Issue.record("\(String(describing: error))"); return }
        } else {
            #expect(error == .notARegularFile(path.string))
        }
        try setting.expectUntouched(engine, since: before)
        #expect(try setting.attributes(link)?.kind == .symbolicLink)
    }

    @Test func filesOfTheCacheAreNotMoved() throws {
        let setting = try Setting()
        let engine = try setting.container.engine()
        try engine.store(noise(3 << 20), "other")
        try engine.configure(CacheConfiguration())
        let container = setting.container
        let link = container.root.appending(path: "way in")
        try link.makeLink(to: container.item("other").deletingLastPathComponent())
        let files = [
            container.item("other"), container.catalog,
            container.support.appending(path: "configuration.json"),
            link.appending(path: container.item("other").lastPathComponent),
        ]
        for file in files {
            #expect(throws: CacheError.fileOfCache(file.path)) {
                try engine.store(moving: FilePath(file.path), as: ItemMetadata("key"))
            }
            #expect(file.exists)
        }
    }

    // MARK: Others who use the file

    @Test func anotherLinkKeepsItsContent() throws {
        let setting = try Setting()
        let other = setting.container.root.appending(path: "other link")
        try FileManager.default.linkItem(at: setting.file, to: other)
        let before = try #require(try setting.attributes(other))
        let engine = try setting.container.engine()
        #expect(try engine.store(moving: setting.path, as: ItemMetadata("key")).isStored)
        #expect(try setting.attributes() == nil)
        let after = try #require(try setting.attributes(other))
        #expect(after.identity == before.identity && after.length == before.length)
        #expect(after.permissions == before.permissions)
        #expect(try isSame(Data(contentsOf: other), Self.content))
        #expect(try isSame(engine.content("key"), Self.content))
        #expect(try setting.attributes(setting.container.item("key"))?.identity != before.identity)
    }

    /// Linux says so.
    @Test func aFileThatIsBeingWrittenStays() throws {
        let setting = try Setting()
        let before = try setting.attributes()
        let engine = try setting.container.engine()
        let handle = try FileHandle(forUpdating: setting.file)
        if try LiveFileSystem().isBeingWritten(Descriptor(rawValue: handle.fileDescriptor)) == nil { return }
        #expect(throws: CacheError.fileChanged(setting.file.path)) {
            try engine.store(moving: setting.path, as: ItemMetadata("key"))
        }
        try setting.expectUntouched(engine, since: before)
        try handle.close()
        #expect(try setting.container.engine().store(moving: setting.path, as: ItemMetadata("key")).isStored)
    }

    /// At every call, as long as that is before the item is there.
    @Test(arguments: [content, prose(3 << 20)], [Hand.writes, .overwrites, .replaces, .removes])
    func theUserMayInterfereAtEveryCall(_ content: Data, _ hand: Hand) throws {
        for number in TestRun.numbers(every: 3) {
            let setting = try Setting(content, in: .fastTemporaryFolder)
            let fileSystem = InterceptingFileSystem()
            let engine = try setting.container.engine(fileSystem: fileSystem)
            let count = CallCounter()
            let (file, moment) = (setting.file, OperationLog())
            let isOpen = Atomic<Bool>(false)
            fileSystem.intercept { operation throws(FileSystemError) in
                // What happens before counts as done before the call.
                guard isOpen.load(ordering: .relaxed) else {
                    let isLooking = operation.kind == .attributes && operation.name == "download.tmp"
                    return isOpen.store(isLooking, ordering: .relaxed)
                }
                guard count.next() == number else { return }
                moment.add(operation)
                hand.act(on: file)
            }
            var outcome: StoreOutcome?
            do {
                outcome = try engine.store(moving: setting.path, as: ItemMetadata("key"))
            } catch {
                guard error.isOfInterference else { throw error }
            }
            fileSystem.intercept { _ in }
            let comment = Comment(rawValue: "call \(number), \(moment.operations)")
            guard let operation = moment.operations.first else { return #expect(number > 10) }
            let stored = try engine.content("key")
            // What is stored is what the file had before. What the user has made meanwhile is still there.
            if outcome?.isStored == true { #expect(isSame(stored, content), comment) }
            if stored != nil { #expect(isSame(stored, content), comment) }
            let found = FileManager.default.contents(atPath: file.path)
            switch hand {
            case .replaces: #expect(found == Hand.other, comment)
            case .writes:
                // The last moments, at which the file has no name of its own any more, make no difference.
                let hasAppended = FileManager.default.contents(atPath: file.path)?.count == content.count + 5
                #expect(hasAppended || stored != nil || operation.kind == .rename, comment)
            case .overwrites: #expect(found.map { $0.count == content.count } ?? true, comment)
            case .removes: #expect(found == nil || isSame(found, content), comment)
            }
            try setting.expectBooks(engine, comment)
        }
    }

    enum Hand: CaseIterable {
        case writes, overwrites, replaces, removes

        static let other = Data("the user's".utf8)

        func act(on file: URL) {
            switch self {
            case .writes:
                guard let handle = FileHandle(forWritingAtPath: file.path) else { return }
                handle.seekToEndOfFile()
                handle.write(Data("added".utf8))
                handle.closeFile()
            case .overwrites:
                guard let handle = FileHandle(forWritingAtPath: file.path) else { return }
                let end = handle.seekToEndOfFile()
                handle.seek(toFileOffset: end > 5 ? end - 5 : 0)
                handle.write(Data("other".utf8))
                handle.closeFile()
            case .replaces:
                let new = file.appendingPathExtension("new")
                guard FileManager.default.createFile(atPath: new.path, contents: Self.other) else { return }
                Foundation.rename(new.path, file.path)
            case .removes: unlink(file.path)
            }
        }
    }
}

extension CacheError {
    /// Whether the file was changed, replaced or removed.
    fileprivate var isOfInterference: Bool {
        switch self {
        case .fileChanged: true
        case .fileSystem(let error): error.isNotFound
        default: false
        }
    }
}

extension SmallVolume {
    /// Those whose files can share blocks.
    static let cloning = all.filter { [.xfs, .btrfs].contains($0) }
}
