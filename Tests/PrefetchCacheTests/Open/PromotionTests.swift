import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Contracts 3 to 7.
@Suite struct PromotionTests {
    private let container: TemporaryContainer

    init() throws {
        container = try TemporaryContainer()
    }

    private func inode(_ url: URL) throws -> UInt64? {
        try LiveFileSystem().attributes(of: FilePath(url.path), in: .workingDirectory)?.identity.inode
    }

    @Test(arguments: [Area.documents, .applicationSupport], [ItemEncoding.lz4, .identity])
    func theFileIsTheContentAndTheItemIsGone(area: Area, encoding: ItemEncoding) throws {
        let engine = try container.engine()
        let content = prose(2_000_000)
        try engine.store(content, "Doc.txt", to: area, encoding: .forced(encoding))
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.isFirstOpen)
        #expect(opened.contentBytes == Int64(content.count))
        let expected =
            area == .documents ? container.documents : container.support.appending(path: "files")
        #expect(opened.path.string == expected.appending(path: "Doc.txt").path)
        #expect(try Data(contentsOf: opened.url) == content)
        #expect(try inode(container.item("Doc.txt")) == nil)
        #expect(try engine.items().isEmpty)
        let staging = try container.files(below: container.support.appending(path: "staging"))
        #expect(staging.allSatisfy { $0.hasSuffix(".lock") })
    }

    @Test func anIdentityItemIsMovedAndNotCopied() throws {
        let engine = try container.engine()
        try engine.store(noise(3 << 20), "film.mp4")
        let before = try inode(container.item("film.mp4"))
        let opened = try #require(try engine.open("film.mp4").value)
        #expect(try inode(opened.url) == before)
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

    @Test func laterOpensReturnTheSameFile() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        let first = try #require(try engine.open("key").value)
        let second = try #require(try engine.open("key").value)
        let third = try #require(try container.engine().open("key").value)
        #expect([second.path, third.path] == [first.path, first.path])
        #expect(!second.isFirstOpen && !third.isFirstOpen)
        #expect(try container.files(below: container.documents) == ["key"])
    }

    @Test func aMissIsNoError() throws {
        let engine = try container.engine()
        guard case .miss(.absent) = try engine.open("nothing") else { Issue.record("a hit"); return }
        #expect(
            !FileManager.default.fileExists(atPath: container.support.appending(path: "ledger.sqlite").path))
    }

    @Test func readingDoesNotPromote() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        _ = try engine.content("key")
        _ = try engine.read("key", 0..<10)
        #expect(try container.files(below: container.documents).isEmpty)
        #expect(try inode(container.item("key")) != nil)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aForeignFileOfThatNameIsLeftAloneAndTheNextNameTaken(encoding: ItemEncoding) throws {
        let engine = try container.engine()
        try FileManager.default.createDirectory(at: container.documents, withIntermediateDirectories: true)
        let foreign = container.documents.appending(path: "Doc.txt")
        try Data("mine".utf8).write(to: foreign)
        let before = try inode(foreign)
        try engine.store(prose(5000), "Doc.txt", encoding: .forced(encoding))
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.path.lastComponent?.string == "Doc (2).txt")
        #expect(try Data(contentsOf: opened.url) == prose(5000))
        #expect(try Data(contentsOf: foreign) == Data("mine".utf8))
        #expect(try inode(foreign) == before)
        #expect(try engine.open("Doc.txt").value?.path == opened.path)
    }

    @Test func anIdenticalFileOfThatNameIsAdopted() throws {
        let engine = try container.engine()
        try FileManager.default.createDirectory(at: container.documents, withIntermediateDirectories: true)
        try prose(1_500_000).write(to: container.documents.appending(path: "Doc.txt"))
        let before = try inode(container.documents.appending(path: "Doc.txt"))
        try engine.store(prose(1_500_000), "Doc.txt")
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(try inode(opened.url) == before)
        #expect(try container.files(below: container.documents) == ["Doc.txt"])
    }

    @Test func aSymbolicLinkOfThatNameIsNotFollowed() throws {
        let engine = try container.engine()
        let outside = container.root.appending(path: "outside")
        try FileManager.default.createDirectory(at: container.documents, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: container.documents.appending(path: "Doc.txt"), withDestinationURL: outside)
        try engine.store(prose(5000), "Doc.txt")
        #expect(try engine.open("Doc.txt").value?.path.lastComponent?.string == "Doc (2).txt")
        #expect(!FileManager.default.fileExists(atPath: outside.path))
    }

    @Test func aFileThatItsUserDeletedIsNotResurrected() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        let opened = try #require(try engine.open("key").value)
        try FileManager.default.removeItem(at: opened.url)
        #expect(throws: CacheError.movedOrDeleted(key: "key", opened.path)) { try engine.open("key") }
        #expect(try container.files(below: container.documents).isEmpty)
        #expect(try !engine.contains("key"))
        try engine.store(prose(6000), "key")
        #expect(try Data(contentsOf: #require(try engine.open("key").value).url) == prose(6000))
    }

    @Test func aFileThatItsUserChangedIsReturnedAsItIs() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        let opened = try #require(try engine.open("key").value)
        try Data("edited".utf8).write(to: opened.url)
        #expect(try engine.open("key").value?.path == opened.path)
        #expect(try Data(contentsOf: opened.url) == Data("edited".utf8))
        guard case .refused(.alreadyPromoted) = try engine.store(prose(9), "key") else {
            Issue.record("stored beside the promoted file")
            return
        }
    }

    @Test(arguments: [[], [.forgetfulRename]] as [Set<Weakness>])
    func theBackupPolicyIsOnTheFile(weaknesses: Set<Weakness>) throws {
        let engine = try container.engine(fileSystem: InterceptingFileSystem(with: weaknesses))
        for (key, policy) in [("in", BackupPolicy.include), ("out", .exclude)] {
            let metadata = ItemMetadata(
                key: try ItemKey(key),
                destination: .documents(FileName(sanitizing: key), backup: policy))
            _ = try prose(500).withBytes { bytes throws(CacheError) in
                try engine.store(bytes, as: metadata, encoding: .automatic)
            }
            let opened = try #require(try engine.open(ItemKey(key)).value)
            let live = LiveFileSystem()
            try live.withFile(opened.path, in: .workingDirectory, .read) { file throws(FileSystemError) in
                #expect(try BackupMark(fileSystem: live).policy(of: file) == policy)
            }
        }
    }

    @Test func aDestinationThatCannotBeWrittenLeavesTheItemCached() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "key")
        try Data().write(to: container.documents)
        #expect {
            try engine.open("key")
        } throws: { error in
            guard case CacheError.destination = error else { return false }
            return true
        }
        #expect(try engine.content("key") == prose(5000))
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func sixtyFourThreadsGetOneFile(encoding: ItemEncoding) throws {
        let engines = try (0..<4).map { _ in try container.engine() }
        let content = prose(300_000)
        try engines[0].store(content, "key", encoding: .forced(encoding))
        let opened = OpenedFiles()
        DispatchQueue.concurrentPerform(iterations: 64) { thread in
            do {
                opened.add(try engines[thread % 4].open("key").value)
            } catch {
                Issue.record(error)
            }
        }
        #expect(opened.firstOpens == 1)
        #expect(opened.paths.count == 1)
        #expect(try container.files(below: container.documents) == ["key"])
        #expect(try Data(contentsOf: container.documents.appending(path: "key")) == content)
    }
}
