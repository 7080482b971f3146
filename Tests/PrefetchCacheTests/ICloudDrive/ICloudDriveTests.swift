import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Promotion to iCloud Drive: what holds for Documents holds there, and nothing is touched without
/// coordination.
@Suite struct ICloudDriveTests {
    private static let folder: FolderPath = "Podcasts/Daily"
    private let container: TemporaryContainer
    private let watch: CoordinationWatch

    init() throws {
        container = try TemporaryContainer()
        watch = CoordinationWatch(root: FilePath(container.iCloudDrive.path))
    }

    private func engine() throws -> Engine {
        let areas = try container.areas()
        let support = try SupportFolders(areas: areas, fileSystem: LiveFileSystem())
        let path = areas.applicationSupport.pushing(CacheLayout.root)
        return try container.engine(
            fileSystem: watch.fileSystem(), coordinator: watch,
            ledger: WatchedLedger(ledger: Ledger(in: support.root, at: path), watch: watch))
    }

    private func put(_ content: Data, _ name: String) throws {
        try FileManager.default.createDirectory(at: container.iCloudDrive, withIntermediateDirectories: true)
        try content.write(to: container.iCloudDrive.appending(path: name))
    }

    private func inode(_ url: URL) throws -> UInt64? {
        try LiveFileSystem().attributes(of: FilePath(url.path), in: .workingDirectory)?.identity.inode
    }

    private func files() throws -> [String] { try container.files(below: container.iCloudDrive) }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func theFileIsTheContentAndTheItemIsGone(encoding: ItemEncoding) throws {
        let engine = try engine()
        try engine.store(prose(2_000_000), "Doc.txt", to: .iCloudDrive, encoding: .forced(encoding))
        #expect(watch.operations == 0)
        #expect(try engine.items().map(\.destination) == [.iCloudDrive("Doc.txt")])
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.isFirstOpen)
        #expect(opened.location == AreaPath(area: .iCloudDrive, relative: "Doc.txt"))
        #expect(opened.path.string == container.iCloudDrive.appending(path: "Doc.txt").path)
        #expect(try Data(contentsOf: opened.url) == prose(2_000_000))
        #expect(try inode(container.item("Doc.txt")) == nil)
        #expect(try files() == ["Doc.txt"])
        #expect(watch.operations > 0)
        #expect(watch.paths(.write).contains(opened.path))
        let staging = try container.files(below: container.support.appending(path: "staging"))
        #expect(staging.allSatisfy { $0.hasSuffix(".lock") })
    }

    @Test func anIdentityItemIsMovedAndNotCopied() throws {
        let engine = try engine()
        try engine.store(noise(1 << 20), "film.mp4", to: .iCloudDrive)
        let before = try inode(container.item("film.mp4"))
        #expect(try inode(#require(try engine.open("film.mp4").value).url) == before)
    }

    @Test func laterOpensAndLooksReturnTheSameFile() throws {
        let engine = try engine()
        try engine.store(prose(5000), "key", to: .iCloudDrive)
        let first = try #require(try engine.open("key").value)
        for engine in [engine, try self.engine()] {
            let later = try #require(try engine.open("key").value)
            #expect(later.path == first.path && !later.isFirstOpen)
            #expect(try engine.contains("key"))
            guard case .hit(.promoted) = try engine.status(of: "key") else {
                Issue.record("not there")
                continue
            }
            guard case .refused(.alreadyPromoted) = try engine.store(prose(9), "key") else {
                Issue.record("stored beside the promoted file")
                continue
            }
        }
        #expect(watch.paths(.readMetadata) == [first.path])
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aForeignFileOfThatNameIsLeftAloneAndTheNextNameTaken(encoding: ItemEncoding) throws {
        let engine = try engine()
        try put(Data("mine".utf8), "Doc.txt")
        try engine.store(prose(5000), "Doc.txt", to: .iCloudDrive, encoding: .forced(encoding))
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.path.lastComponent?.string == "Doc (2).txt")
        #expect(try Data(contentsOf: opened.url) == prose(5000))
        #expect(
            try Data(contentsOf: container.iCloudDrive.appending(path: "Doc.txt")) == Data("mine".utf8))
        #expect(watch.paths(.write).contains(opened.path))
    }

    @Test func anIdenticalFileOfThatNameIsAdopted() throws {
        let engine = try engine()
        try put(prose(1_500_000), "Doc.txt")
        let before = try inode(container.iCloudDrive.appending(path: "Doc.txt"))
        try engine.store(prose(1_500_000), "Doc.txt", to: .iCloudDrive)
        #expect(try inode(#require(try engine.open("Doc.txt").value).url) == before)
        #expect(try files() == ["Doc.txt"])
    }

    @Test func aFileThatItsUserDeletedIsNotResurrected() throws {
        let engine = try engine()
        try engine.store(prose(5000), "key", to: .iCloudDrive)
        let opened = try #require(try engine.open("key").value)
        try FileManager.default.removeItem(at: container.iCloudDrive)
        #expect(throws: CacheError.movedOrDeleted(key: "key", opened.path)) { try engine.open("key") }
        #expect(try !engine.contains("key"))
        #expect(!FileManager.default.fileExists(atPath: container.iCloudDrive.path))
        try engine.store(prose(6000), "key", to: .iCloudDrive)
        #expect(try Data(contentsOf: #require(try engine.open("key").value).url) == prose(6000))
    }

    @Test func deletingIsCoordinated() throws {
        let engine = try engine()
        // The second key adopts the file of the first.
        for key in ["one", "two"] as [ItemKey] {
            let metadata = ItemMetadata(key: key, destination: .iCloudDrive("Doc.txt"))
            _ = try prose(5000).withBytes { bytes throws(CacheError) in
                try engine.store(bytes, as: metadata, encoding: .automatic)
            }
            _ = try engine.open(key)
        }
        let path = try #require(try engine.open("two").value).path
        #expect(try !engine.deletePromotedFile("one"))
        #expect(try files() == ["Doc.txt"])
        #expect(try engine.deletePromotedFile("two"))
        #expect(try files().isEmpty)
        #expect(watch.paths(.delete) == [path])
    }

    @Test func aFileThatItsUserChangedIsReturnedAsItIs() throws {
        let engine = try engine()
        try engine.store(prose(5000), "key", to: .iCloudDrive)
        let opened = try #require(try engine.open("key").value)
        try Data("edited".utf8).write(to: opened.url)
        #expect(try engine.open("key").value?.path == opened.path)
        #expect(try Data(contentsOf: opened.url) == Data("edited".utf8))
    }

    /// The file is opened under coordination, and its content is then read as far as the app wants it.
    @Test func readingAnOpenedFileIsAHit() throws {
        let engine = try container.engine(coordinator: watch)
        try engine.store(prose(5000), "key", to: .iCloudDrive)
        let opened = try #require(try engine.open("key").value)
        #expect(try engine.content("key") == prose(5000))
        #expect(watch.paths(.readContent) == [opened.path])
    }

    @Test func whatWasAskedForGoesThereAtOnce() throws {
        let engine = try engine()
        var metadata = ItemMetadata("asked for", to: .iCloudDrive)
        metadata.intent = .userRequested
        let outcome = try prose(9000).withBytes { bytes throws(CacheError) in
            try engine.store(bytes, as: metadata, encoding: .automatic)
        }
        guard case .delivered(let opened) = outcome else { Issue.record("not delivered"); return }
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(try files() == ["asked for"])
        #expect(try engine.open("asked for").value?.isFirstOpen == false)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func theFileGoesToItsFolder(encoding: ItemEncoding) throws {
        let engine = try engine()
        try engine.store(
            prose(9000), "Doc.txt", in: Self.folder, of: .iCloudDrive, encoding: .forced(encoding))
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(try files() == ["Podcasts/Daily/Doc.txt"])
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(try engine.open("Doc.txt").value?.path == opened.path)
    }

    /// Wherever an operation fails, the next process completes the promotion, under coordination as well.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func recoveryIsCoordinated(encoding: ItemEncoding) throws {
        for renamed in ["key", "nothing"] {
            let key = try ItemKey("\(renamed)-\(encoding)")
            let failing = InterceptingFileSystem { operation throws(FileSystemError) in
                let isMeant =
                    renamed == "key"
                    ? operation.kind == .rename && operation.newName == key.string
                    : operation.kind == .synchronize && operation.path?.hasSuffix("/Mobile Documents") == true
                if isMeant { throw FileSystemError("fails", errno: .ioError) }
            }
            let broken = try container.engine(fileSystem: failing)
            try broken.store(prose(5000), key, to: .iCloudDrive, encoding: .forced(encoding))
            #expect(throws: CacheError.self) { try broken.open(key) }
            let opened = try #require(try engine().open(key).value)
            #expect(try Data(contentsOf: opened.url) == prose(5000))
            #expect(opened.path.lastComponent?.string == key.string)
        }
        #expect(watch.operations > 0)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aRefusedAccessIsAnErrorOfTheDestinationAndLeavesTheItemCached(encoding: ItemEncoding) throws {
        let engine = try engine()
        try engine.store(prose(5000), "key", to: .iCloudDrive, encoding: .forced(encoding))
        watch.refuse(.canceled)
        #expect {
            try engine.open("key")
        } throws: { error in
            guard case CacheError.destination(_, let cause) = error else { return false }
            return cause.errno == .canceled
        }
        #expect(try engine.content("key") == prose(5000))
        watch.refuse(nil)
        #expect(try engine.open("key").value?.isFirstOpen == true)
    }

    @Test func otherAreasAreNotCoordinated() throws {
        let engine = try engine()
        for (key, area) in [("a", Area.documents), ("b", .applicationSupport)] {
            try engine.store(prose(5000), ItemKey(key), to: area)
            #expect(try engine.open(ItemKey(key)).value != nil)
        }
        #expect(watch.paths(.write).isEmpty && watch.paths(.readMetadata).isEmpty)
    }
}
