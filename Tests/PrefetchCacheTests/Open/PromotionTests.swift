import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Contracts 3 to 7.
@Suite struct PromotionTests {
    private static let areas = [Area.documents, .applicationSupport, .iCloudDrive]
    private let container = TemporaryContainer.make()

    /// In iCloud Drive nothing may be touched without coordination.
    private func engine(_ area: Area = .documents) throws -> Engine {
        guard area == .iCloudDrive else { return try container.engine() }
        return try container.engine(CoordinationWatch(root: FilePath(container.iCloudDrive.path)))
    }

    private func file(_ name: String, in area: Area) -> URL {
        container.destinations(in: area).appending(path: name)
    }

    @Test(arguments: areas, [ItemEncoding.lz4, .identity])
    func theFileIsTheContentAndTheItemIsGone(area: Area, encoding: ItemEncoding) throws {
        let engine = try engine(area)
        let content = prose(2_000_000)
        try engine.store(content, "Doc.txt", to: area, encoding: .forced(encoding))
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.isFirstOpen)
        #expect(opened.contentBytes == Int64(content.count))
        #expect(opened.path.string == file("Doc.txt", in: area).path)
        #expect(try Data(contentsOf: opened.url) == content)
        #expect(try container.item("Doc.txt").inode == nil)
        #expect(try engine.items().isEmpty)
        #expect(try container.staged() == [])
    }

    @Test(arguments: areas) func anIdentityItemIsMovedAndNotCopied(area: Area) throws {
        let engine = try engine(area)
        try engine.store(noise(3 << 20), "film.mp4", to: area)
        let before = try container.item("film.mp4").inode
        let opened = try #require(try engine.open("film.mp4").value)
        #expect(try opened.url.inode == before)
        #expect(try Data(contentsOf: opened.url) == noise(3 << 20))
    }

    @Test func anIdentityItemWithAnotherNameIsCopiedAndNotCut() throws {
        let engine = try container.engine()
        try engine.store(noise(5000), "film.mp4")
        let otherName = container.root.appending(path: "kept by somebody")
        try FileManager.default.linkItem(at: container.item("film.mp4"), to: otherName)
        let before = try Data(contentsOf: otherName)
        let opened = try #require(try engine.open("film.mp4").value)
        #expect(try Data(contentsOf: opened.url) == noise(5000))
        #expect(try Data(contentsOf: otherName) == before)
    }

    @Test func readingAnOpenedFileIsAHit() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        _ = try engine.open("key")
        _ = try engine.content("key")
        #expect(try engine.statistics().hits == 1)
        #expect(try engine.statistics().misses == 0)
    }

    @Test func anEmptyItemBecomesAnEmptyFile() throws {
        let engine = try container.engine()
        try engine.store(Data(), "empty")
        #expect(try Data(contentsOf: #require(try engine.open("empty").value).url).isEmpty)
    }

    @Test(arguments: areas) func laterOpensAndLooksReturnTheSameFile(area: Area) throws {
        let first = try engine(area)
        try first.store(prose(5000), "key", to: area)
        let path = try #require(try first.open("key").value).path
        for engine in [first, try engine(area)] {
            let later = try #require(try engine.open("key").value)
            #expect(later.path == path && !later.isFirstOpen)
            #expect(try engine.contains("key"))
            #expect(try engine.status(of: "key").isPromoted)
            #expect(try engine.store(prose(9), "key", to: area) == .refused(.alreadyPromoted))
        }
        #expect(try container.files(below: container.destinations(in: area)) == ["key"])
    }

    @Test func aMissIsNoError() throws {
        let engine = try container.engine()
        #expect(try engine.open("nothing").miss == .absent)
        #expect(!container.record.exists)
    }

    @Test(arguments: areas, [ItemEncoding.lz4, .identity])
    func aForeignFileOfThatNameIsLeftAloneAndTheNextNameTaken(area: Area, encoding: ItemEncoding) throws {
        let engine = try engine(area)
        let foreign = file("Doc.txt", in: area)
        try foreign.place("mine")
        let before = try foreign.inode
        try engine.store(prose(5000), "Doc.txt", to: area, encoding: .forced(encoding))
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.path.lastComponent?.string == "Doc (2).txt")
        #expect(try Data(contentsOf: opened.url) == prose(5000))
        #expect(try Data(contentsOf: foreign) == Data("mine".utf8))
        #expect(try foreign.inode == before)
        #expect(try engine.open("Doc.txt").value?.path == opened.path)
    }

    @Test(arguments: areas) func anIdenticalFileOfThatNameIsAdopted(area: Area) throws {
        let engine = try engine(area)
        let file = file("Doc.txt", in: area)
        try file.place(prose(1_500_000))
        let before = try file.inode
        try engine.store(prose(1_500_000), "Doc.txt", to: area)
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(try opened.url.inode == before)
        #expect(try container.files(below: container.destinations(in: area)) == ["Doc.txt"])
    }

    @Test(arguments: areas) func aFileThatItsUserDeletedIsNotResurrected(area: Area) throws {
        let engine = try engine(area)
        try engine.store(prose(5000), "key", to: area)
        let opened = try #require(try engine.open("key").value)
        let folder = container.destinations(in: area)
        for isFolder in [false, true] {
            try (isFolder ? folder : opened.url).remove()
            #expect(throws: CacheError.movedOrDeleted(key: "key", opened.path)) { try engine.open("key") }
            #expect(try container.files(below: folder).isEmpty && folder.exists != isFolder)
            #expect(try !engine.contains("key") && engine.status(of: "key").value == nil)
        }
        try engine.store(prose(6000), "key", to: area)
        #expect(try Data(contentsOf: #require(try engine.open("key").value).url) == prose(6000))
    }

    @Test(arguments: areas) func aFileThatItsUserChangedIsReturnedAsItIs(area: Area) throws {
        let engine = try engine(area)
        try engine.store(prose(5000), "key", to: area)
        let opened = try #require(try engine.open("key").value)
        try Data("edited".utf8).write(to: opened.url)
        #expect(try engine.open("key").value?.path == opened.path)
        #expect(try Data(contentsOf: opened.url) == Data("edited".utf8))
        #expect(try engine.store(prose(9), "key", to: area) == .refused(.alreadyPromoted))
    }

    @Test(arguments: [[], [.forgetfulRename]] as [Set<Weakness>])
    func theBackupPolicyIsOnTheFile(weaknesses: Set<Weakness>) throws {
        let engine = try container.engine(fileSystem: InterceptingFileSystem(with: weaknesses))
        for (key, policy) in [("in", BackupPolicy.include), ("out", .exclude)] {
            let metadata = ItemMetadata(
                key: try ItemKey(key),
                destination: .documents(FileName(sanitizing: key), backup: policy))
            try engine.store(prose(500), as: metadata)
            let opened = try #require(try engine.open(ItemKey(key)).value)
            #expect(try opened.url.backupPolicy == policy)
        }
    }

    @Test func aDestinationThatCannotBeWrittenLeavesTheItemCached() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        try Data().write(to: container.documents)
        expectDestinationError { try engine.open("key") }
        #expect(try engine.content("key") == prose(5000))
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func sixtyFourThreadsGetOneFile(encoding: ItemEncoding) throws {
        let engines = try (0..<4).map { _ in try container.engine() }
        let content = prose(300_000)
        try engines[0].store(content, "key", encoding: .forced(encoding))
        let opened = Mutex<[PromotedFile?]>([])
        DispatchQueue.concurrentPerform(iterations: 64) { thread in
            do {
                let file = try engines[thread % 4].open("key").value
                opened.withLock { $0.append(file) }
            } catch {
                Issue.record(error)
            }
        }
        let files = opened.withLock { $0 }
        #expect(files.count { $0?.isFirstOpen == true } == 1)
        #expect(Set(files.map { $0?.path }).count == 1)
        #expect(try container.files(below: container.documents) == ["key"])
        #expect(try Data(contentsOf: container.document("key")) == content)
    }
}
