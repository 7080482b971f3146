import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What happens to a promoted file between the last look at it and its removal.
@Suite(.timeLimit(.minutes(2))) struct LateHandTests {
    private let container = TemporaryContainer.make()
    private let fileSystem = InterceptingFileSystem()
    private let engine: Engine

    init() throws { engine = try container.engine(fileSystem: fileSystem) }

    private func item(_ key: ItemKey, named name: FileName = "Film") -> ItemMetadata {
        ItemMetadata(key: key, destination: .documents(name, backup: .exclude))
    }

    @discardableResult
    private func open(_ metadata: ItemMetadata, _ content: Data = prose(5000)) throws -> PromotedFile {
        try engine.store(content, as: metadata)
        return try #require(try engine.open(metadata.key).value)
    }

    /// Runs `body` once, when something is about to be moved aside.
    private func whenMovedAside(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
        fileSystem.once(before: { $0.kind == .rename && $0.name == name }, body)
    }

    @Test func aFileThatIsOpenedWhileItIsLookedAtIsNotPurged() throws {
        let opened = try open(item("film"))
        let entry = try #require(try engine.ledger.entry(for: "film"))
        try opened.url.setModified(1)
        try opened.url.setAccessed(1_000_000_000)
        // As an open does, which takes no lock.
        whenMovedAside("Film") { [engine] in engine.files.noteUse(of: entry) }
        // The clock of tests goes on by a second whenever it is read.
        let later = entry.openedAt + 1
        #expect(try engine.purgeExcluded(unusedSince: later, isDryRun: false).purged == [])
        #expect(try Data(contentsOf: opened.url) == prose(5000))
        #expect(try engine.open("film").value?.path == opened.path)
    }

    /// The other half: an open that comes too late for that does not return what is gone.
    @Test func aFileThatIsPurgedWhileItIsOpenedIsNotReturned() throws {
        let opened = try open(item("film"))
        try opened.url.setAccessed(1_000_000_000)
        let other = try container.engine()
        fileSystem.intercept { operation in
            guard operation.kind == .setAccessTime else { return }
            do {
                #expect(try other.deletePromotedFile("film"))
            } catch { Issue.record(error) }
        }
        #expect(try engine.open("film").miss == .absent)
    }

    /// Another key is opened to a file of that name and content, which is about to go: it gets one of its own.
    @Test(arguments: [false, true])
    func aFileThatIsBeingRemovedIsNotAdopted(whileReplaced: Bool) throws {
        let opened = try open(item("one"))
        let other = try container.engine()
        try store("two", for: other)
        let secondPath = opened.path.removingLastComponent().appending("Film (2)")
        let open: @Sendable () throws -> Void = {
            let found = try other.open("two").value?.path
            #expect(found == secondPath)
        }
        if whileReplaced {
            fileSystem.once(before: { $0.kind == .rename && $0.newName == "Film" }) { try open() }
            var newer = item("one")
            newer.intent = .userRequested
            let store = try engine.begin(newer, whenPromoted: .replaceIfUnmodified)
            try store.commit(appending: prose(6000, seed: 1))
            #expect(try Data(contentsOf: opened.url) == prose(6000, seed: 1))
        } else {
            whenMovedAside("Film", open)
            let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
            #expect(report.purged.map(\.key) == ["one"], "\(report)")
        }
        #expect(try Data(contentsOf: URL(filePath: secondPath.string)) == prose(5000))
        #expect(try other.open("two").value?.path == secondPath)
    }

    /// Each of the two could leave it to the other.
    @Test func aFileOfTwoKeysGoesWithTheSecondOfTwoDeletions() throws {
        let opened = try open(item("one"))
        #expect(try open(item("two")).path == opened.path)
        let other = try container.engine()
        // The first deletion has found that the file is shared.
        fileSystem.once(before: { $0.kind == .synchronize }) {
            let isDeleted = try other.deletePromotedFile("two")
            #expect(!isDeleted)
        }
        #expect(try engine.deletePromotedFile("one"))
        #expect(try engine.ledger.hashes() == [])
        #expect(!opened.url.exists)
    }

    /// Nothing else has its content any more: recovery is to commit it.
    @Test func aFileThatADeadProcessHasAdoptedStays() throws {
        let opened = try open(item("one"))
        #expect(try open(item("two")).path == opened.path)
        let adopted = try #require(try engine.ledger.entry(for: "two"))
        var intent = adopted
        intent.state = .intent
        try engine.ledger.put(intent, replacing: adopted)
        #expect(try !engine.deletePromotedFile("one"))
        #expect(try engine.open("two").value?.path == opened.path)
        #expect(try Data(contentsOf: opened.url) == prose(5000))
    }

    /// Neither its content nor its record tells that, only its place.
    @Test func aFileThatWasAdoptedAfterItsUserHadChangedItStays() throws {
        let opened = try open(item("one"), prose(5000, seed: 2))
        try prose(5000).write(to: opened.url)
        #expect(try open(item("two")).path == opened.path)
        #expect(try !engine.deletePromotedFile("one"))
        #expect(try Data(contentsOf: opened.url) == prose(5000))
        #expect(try engine.deletePromotedFile("two"))
    }

    /// An item that a purge leaves alone.
    private func store(_ key: ItemKey, for engine: Engine) throws {
        let metadata = ItemMetadata(key: key, destination: .documents("Film", backup: .include))
        try engine.store(prose(5000), as: metadata)
    }

    // MARK: Bundles

    private func openBundle() throws -> URL {
        try engine.store(BundleTests.content, as: BundleTests.metadata())
        return try #require(try engine.open("guide").value).url
    }

    /// Two files whose names are equal to Swift, and not to the file system.
    @Test func aNameInAnotherNormalizationIsTheUsers() throws {
        let (composed, decomposed) = ("caf\u{E9}.txt", "cafe\u{301}.txt")
        let content = prose(700)
        let metadata = ItemMetadata(
            key: "guide", destination: .documents("guide", backup: .exclude),
            parts: [BundlePart(try FolderPath(composed), contentBytes: 700)])
        let folder = try open(metadata, content).url
        let path = folder.path + "/" + decomposed
        try LiveFileSystem().withFile(FilePath(path), in: .workingDirectory, .createNew(.ownerReadWrite)) {
            _ in
        }
        let names = try LiveFileSystem().withFile(FilePath(folder.path), in: .workingDirectory, .directory) {
            folder throws(FileSystemError) in try LiveFileSystem().entries(of: folder).count
        }
        // Where the file system takes them for one.
        guard names == 2 else { return }
        #expect(try engine.purgeExcluded(unusedSince: .max, isDryRun: false).purged == [])
        #expect(try engine.deletePromotedFile("guide"))
        #expect(try LiveFileSystem().attributes(of: FilePath(path), in: .workingDirectory) != nil)
    }

    @Test func aFolderThatIsMovedAwayWhileItIsDeletedKeepsItsFiles() throws {
        let folder = try openBundle()
        let kept = container.documents.appending(path: "Keep", directoryHint: .isDirectory)
        whenMovedAside("guide") { try folder.move(to: kept) }
        #expect(try !engine.deletePromotedFile("guide"))
        #expect(try container.files(below: kept) == BundleTests.files.map(\.key.string).sorted())
    }

    /// Looking at a folder, to list it, is no use of it.
    @Test func aBundleThatIsNotUsedIsPurged() throws {
        let folder = try openBundle()
        let names = try container.files(below: folder).map { folder.path + "/" + $0 } + [folder.path]
        let folders = ["images", "images/small"].map { folder.path + "/" + $0 }
        for name in names + folders { try URL(filePath: name).setModified(1) }
        for name in names { try URL(filePath: name).setAccessed(2_000_000_000) }
        let later = try #require(try engine.ledger.entry(for: "guide")).openedAt + 1
        #expect(try engine.purgeExcluded(unusedSince: later, isDryRun: false).purged.count == 1)
        #expect(!folder.exists)
    }

    // MARK: Marks

    /// What another process does between the reading of the ledger and the lock.
    @Test func aFileThatWasForgottenIsNotMarkedByARepair() throws {
        let opened = try open(item("film"))
        let other = try container.engine()
        try opened.url.set(.include)
        let lock = CacheLayout.keyLocks.string
        let isOver = fileSystem.once(before: { $0.kind == .open && $0.name == lock }) {
            let isForgotten = try other.forget("film")
            #expect(isForgotten)
        }
        _ = try engine.repair(isDryRun: false)
        #expect(isOver.value > 0)
        #expect(try opened.url.backupPolicy == .include)
    }
}
