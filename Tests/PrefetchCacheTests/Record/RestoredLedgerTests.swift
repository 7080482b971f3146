import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// A ledger that comes from a backup: older than the files, in a container at another path, and with
/// files missing. Nothing that it says of inodes holds.
@Suite struct RestoredLedgerTests {
    private let container = TemporaryContainer.make()

    private var documents: URL { container.documents }

    private func identity(_ url: URL) throws -> (inode: UInt64, birthTime: Int64?) {
        let live = LiveFileSystem()
        return try live.withFile(FilePath(url.path), in: .workingDirectory, .read) {
            file throws(FileSystemError) in
            (try live.attributes(of: file).identity.inode, try live.birthTime(of: file))
        }
    }

    /// A promotion that stopped when its file was in its place and not yet committed.
    private func interrupted(_ encoding: ItemEncoding = .lz4) throws -> Engine {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(5000), "Doc.txt", encoding: .forced(encoding))
        let folder = documents.path
        fileSystem.fail { $0.kind == .synchronize && $0.name == folder }
        #expect(throws: CacheError.self) { try engine.open("Doc.txt") }
        #expect(try engine.ledger.entry(for: "Doc.txt")?.state == .intent)
        #expect(try Data(contentsOf: container.document("Doc.txt")) == prose(5000))
        return try container.engine()
    }

    @Test func filesAreFoundAgainInAContainerAtAnotherPath() throws {
        let before = try container.engine()
        for key in ["a", "gone"] as [ItemKey] {
            try before.store(prose(5000, seed: key.hash.low), key)
            _ = try before.open(key)
        }
        try before.store(prose(6000), "b", in: "Podcasts/Daily")
        try before.store(prose(7000), "c", to: .applicationSupport)
        try before.store(prose(8000), "lost", in: "Lost")
        for key in ["b", "c", "lost"] as [ItemKey] { _ = try before.open(key) }
        try before.close()

        let restored = try TemporaryContainer()
        try restored.support.deletingLastPathComponent().makeFolder()
        try FileManager.default.copyItem(at: container.documents, to: restored.documents)
        try FileManager.default.copyItem(at: container.support, to: restored.support)
        try restored.support.appending(path: "staging").remove()
        try restored.documents.appending(path: "gone").remove()
        try restored.documents.appending(path: "Lost").remove()

        let engine = try restored.engine()
        let expected = [
            ("a", restored.documents.appending(path: "a")),
            ("b", restored.documents.appending(path: "Podcasts/Daily/b")),
            ("c", restored.support.appending(path: "files/c")),
        ]
        for (key, url) in expected {
            let opened = try #require(try engine.open(ItemKey(key)).value)
            #expect(opened.path.string == url.path)
            #expect(!opened.isFirstOpen)
        }
        for (key, path) in [("gone", "gone"), ("lost", "Lost/lost")] {
            let key = try ItemKey(key)
            let place = FilePath(restored.documents.appending(path: path).path)
            #expect(throws: CacheError.movedOrDeleted(key: key, place)) { try engine.open(key) }
            #expect(try !engine.contains(key))
        }
        #expect(try restored.files(below: restored.documents) == ["Podcasts/Daily/b", "a"])

        try engine.store(prose(9000), "lost", in: "Lost")
        #expect(try Data(contentsOf: #require(try engine.open("lost").value).url) == prose(9000))
    }

    /// Its key was opened after the backup: the file is there, and the row is not.
    @Test func aFileThatIsYoungerThanTheLedgerIsAdoptedByItsContent() throws {
        let engine = try container.engine()
        try engine.store(prose(400), "older")
        _ = try engine.open("older")
        let ledger = container.record
        let backup = try Data(contentsOf: ledger)
        try engine.store(prose(5000), "Doc.txt", in: "Podcasts")
        let first = try #require(try engine.open("Doc.txt").value)
        try engine.close()
        try backup.write(to: ledger)

        let next = try container.engine()
        #expect(try next.open("Doc.txt").miss == .absent)
        try next.store(prose(5000), "Doc.txt", in: "Podcasts")
        #expect(try next.open("Doc.txt").value?.path == first.path)
        #expect(try container.files(below: documents) == ["Podcasts/Doc.txt", "older"])
    }

    @Test func anInterruptedPromotionIsKnownByItsContentAlone() throws {
        let engine = try interrupted()
        #expect(try engine.remove("Doc.txt"))
        var row = try #require(try engine.ledger.entry(for: "Doc.txt"))
        row.inode = 1
        row.birthTime = nil
        try engine.ledger.put(row)
        #expect(try engine.open("Doc.txt").value?.path.lastComponent?.string == "Doc.txt")
        #expect(try engine.ledger.entry(for: "Doc.txt")?.state == .committed)
        #expect(try container.files(below: documents) == ["Doc.txt"])
    }

    /// The staged file was not in the backup, and by chance another file has its name and its inode.
    @Test(arguments: [prose(5000, seed: 2), prose(40)], [false, true])
    func anInodeAloneClaimsNobodysFile(foreign: Data, knowsABirthTime: Bool) throws {
        let engine = try interrupted()
        try container.document("Doc.txt").remove()
        try foreign.write(to: container.document("Doc.txt"))
        let other = try identity(container.document("Doc.txt"))
        var row = try #require(try engine.ledger.entry(for: "Doc.txt"))
        row.inode = other.inode
        if !knowsABirthTime { row.birthTime = nil }
        #expect(row.birthTime == nil || row.birthTime != other.birthTime)
        try engine.ledger.put(row)

        // The cached copy is still there, and goes beside it.
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.path.lastComponent?.string == "Doc (2).txt")
        #expect(try Data(contentsOf: opened.url) == prose(5000))
        #expect(try Data(contentsOf: container.document("Doc.txt")) == foreign)
    }

    @Test func withoutACopyAnIntentThatClaimsNothingIsDropped() throws {
        let engine = try interrupted()
        #expect(try engine.remove("Doc.txt"))
        try container.document("Doc.txt").remove()
        try Data("mine".utf8).write(to: container.document("Doc.txt"))
        var row = try #require(try engine.ledger.entry(for: "Doc.txt"))
        row.inode = try identity(container.document("Doc.txt")).inode
        try engine.ledger.put(row)
        #expect(try engine.open("Doc.txt").miss == .absent)
        #expect(try engine.ledger.entry(for: "Doc.txt") == nil)
        #expect(try Data(contentsOf: container.document("Doc.txt")) == Data("mine".utf8))
    }

    /// The same inode, created at the same time: its user has changed it since the crash.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aFileThatItsUserChangedBeforeRecoveryIsStillIt(encoding: ItemEncoding) throws {
        let engine = try interrupted(encoding)
        let file = try identity(container.document("Doc.txt"))
        guard file.birthTime != nil else { return }
        let row = try #require(try engine.ledger.entry(for: "Doc.txt"))
        #expect(row.inode == file.inode)
        #expect(row.birthTime == file.birthTime)

        try container.document("Doc.txt").overwrite(Data("edited".utf8))
        let edited = try Data(contentsOf: container.document("Doc.txt"))
        #expect(edited != prose(5000))
        #expect(try engine.open("Doc.txt").value?.path.lastComponent?.string == "Doc.txt")
        #expect(try Data(contentsOf: container.document("Doc.txt")) == edited)
        #expect(try container.files(below: documents) == ["Doc.txt"])
        #expect(try engine.items().isEmpty)
    }

    /// A number that the name has already is not a part of the name.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aRecoveredPromotionGoesOnCounting(encoding: ItemEncoding) throws {
        try documents.makeFolder()
        try Data("foreign".utf8).write(to: container.document("Doc.txt"))
        let fileSystem = InterceptingFileSystem(failing: .ioError) { $0.newName == "Doc (2).txt" }
        let dying = try container.engine(fileSystem: fileSystem)
        try dying.store(prose(5000), "Doc.txt", encoding: .forced(encoding))
        #expect(throws: CacheError.self) { try dying.open("Doc.txt") }
        #expect(try dying.ledger.entry(for: "Doc.txt")?.name == "Doc (2).txt")
        try Data("foreign, too".utf8).write(to: container.document("Doc (2).txt"))

        let opened = try #require(try container.engine().open("Doc.txt").value)
        #expect(opened.path.lastComponent?.string == "Doc (3).txt")
        #expect(try Data(contentsOf: opened.url) == prose(5000))
        #expect(try container.files(below: documents) == ["Doc (2).txt", "Doc (3).txt", "Doc.txt"])
    }
}
