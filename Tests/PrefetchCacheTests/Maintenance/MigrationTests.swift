import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

@Suite struct MigrationTests {
    private let container = TemporaryContainer.make()
    private let old: URL

    init() throws {
        old = container.root.appending(path: "old", directoryHint: .isDirectory)
        try old.makeFolder()
    }

    @discardableResult
    private func write(_ content: Data, _ path: String) throws -> URL {
        let file = old.appending(path: path)
        try file.place(content)
        return file
    }

    private func migrate(
        _ engine: Engine, as role: MigrationRequest.Role, of folder: URL? = nil, prefix: String = "",
        backup: BackupPolicy? = nil, isDryRun: Bool = false
    ) throws -> [String: MigratedFile.Outcome] {
        let request = MigrationRequest(
            of: FilePath((folder ?? old).path), as: role, source: "old", keyPrefix: prefix,
            backup: backup)
        var outcomes: [String: MigratedFile.Outcome] = [:]
        try Migrator(engine: engine, request: request, isDryRun: isDryRun).run { file in
            #expect(outcomes[file.path] == nil)
            outcomes[file.path] = file.outcome
        }
        return outcomes
    }

    private func isMoved(_ outcome: MigratedFile.Outcome?) -> Bool {
        if case .moved = outcome { true } else { false }
    }

    private func isStored(_ outcome: MigratedFile.Outcome?) -> Bool {
        if case .stored = outcome { true } else { false }
    }

    private func isAdopted(_ outcome: MigratedFile.Outcome?) -> Bool {
        if case .adopted = outcome { true } else { false }
    }

    private func isLeft(
        _ outcome: MigratedFile.Outcome?, for isMeant: (MigratedFile.Obstacle) -> Bool = { _ in true }
    ) -> Bool {
        if case .left(let obstacle) = outcome { isMeant(obstacle) } else { false }
    }

    private var leftInOld: [String] { get throws { try container.files(below: old) } }

    // MARK: As files of the user's

    /// What is there already is the user's, with its mark.
    @Test func aFileThatIsAdoptedKeepsItsMark() throws {
        let engine = try container.engine()
        let file = container.document("image.iso")
        try file.place(noise(3000))
        try file.set(.exclude)
        let outcomes = try migrate(engine, as: .promoted(to: .documents), of: container.documents)
        #expect(isAdopted(outcomes["image.iso"]))
        #expect(try file.backupPolicy == .exclude)
    }

    /// Otherwise it would be marked, and purged.
    @Test func aFileThatIsAdoptedStaysTheUsersAfterACrash() throws {
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        let file = container.document("image.iso")
        try file.place(noise(3000))
        fileSystem.die(before: { $0.kind == .synchronize && $0.name == "image.iso" })
        let outcomes = try migrate(
            dying, as: .promoted(to: .documents), of: container.documents, backup: .exclude)
        #expect(isLeft(outcomes["image.iso"]))
        let engine = try container.engine()
        _ = try engine.repair(isDryRun: false)
        let entry = try #require(try engine.ledger.committed(after: nil, atMost: 2).first)
        #expect(entry.origin == .adopted)
        #expect(try engine.purgeExcluded(unusedSince: .max, isDryRun: false).purged.isEmpty)
        #expect(try Data(contentsOf: file) == noise(3000))
    }

    @Test(arguments: [Area.documents, .applicationSupport])
    func filesBecomeFilesOfTheUsers(_ area: Area) throws {
        let contents = [
            "a.txt": prose(3000), "Podcasts/b.mp3": noise(70_000), "Podcasts/Daily/empty": Data(),
        ]
        for (path, content) in contents { try write(content, path) }
        let engine = try container.engine()
        let told = try migrate(engine, as: .promoted(to: area), prefix: "old/", isDryRun: true)
        #expect(try leftInOld.count == 3)
        let done = try migrate(engine, as: .promoted(to: area), prefix: "old/")
        #expect(done == told)
        #expect(done.values.allSatisfy(isMoved) && done.count == 3)
        #expect(try leftInOld.isEmpty)
        for (path, content) in contents {
            let opened = try #require(try engine.open(ItemKey("old/" + path)).value)
            #expect(!opened.isFirstOpen && opened.location.area == area)
            #expect(opened.path.string.hasSuffix("/" + path))
            #expect(try Data(contentsOf: opened.url) == content)
        }
        let report = try engine.verified()
        #expect(report.verifiedFiles == 3 && report.findings.isEmpty)
    }

    @Test func aNameThatIsTakenIsLeftToWhoHasIt() throws {
        try container.document("a.txt").place("theirs")
        let foreign = try ForeignFile(container.document("a.txt"))
        try write(Data("ours".utf8), "a.txt")
        let engine = try container.engine()
        #expect(isMoved(try migrate(engine, as: .promoted(to: .documents))["a.txt"]))
        #expect(try foreign.isUntouched)
        let copy = container.document("a (2).txt")
        #expect(try Data(contentsOf: copy) == Data("ours".utf8))
    }

    @Test func whatFailsUnderTheNextNameIsNotInTheLedger() throws {
        try container.document("a.txt").place("theirs")
        try write(Data("ours".utf8), "a.txt")
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        fileSystem.fail { $0.newName == "a (2).txt" }
        guard case .left(.failed(.destination)) = try migrate(engine, as: .promoted(to: .documents))["a.txt"]
        else { Issue.record("not failed"); return }
        #expect(try engine.ledger.entry(for: "a.txt") == nil)
        fileSystem.intercept { _ in }
        #expect(isMoved(try migrate(engine, as: .promoted(to: .documents))["a.txt"]))
        #expect(try leftInOld.isEmpty)
    }

    @Test func whatIsThereAlreadyIsNotThereTwice() throws {
        try container.document("a.txt").place("same")
        try write(Data("same".utf8), "a.txt")
        let engine = try container.engine()
        let outcome = try #require(try migrate(engine, as: .promoted(to: .documents))["a.txt"])
        #expect("\(outcome)".hasPrefix("merged"))
        #expect(try leftInOld.isEmpty)
        #expect(try container.files(below: container.documents) == ["a.txt"])
    }

    @Test func whatIsInItsPlaceStaysThere() throws {
        try container.documents.makeFolder()
        let file = container.document("a.txt")
        try Data("only one".utf8).write(to: file)
        let engine = try container.engine()
        for isDryRun in [true, false, false] {
            let outcome = try migrate(
                engine, as: .promoted(to: .documents), of: container.documents, isDryRun: isDryRun)["a.txt"]
            #expect(isAdopted(outcome))
            #expect(try Data(contentsOf: file) == Data("only one".utf8))
        }
        #expect(try engine.open("a.txt").value?.isFirstOpen == false)
    }

    @Test func whatALinkLeadsToIsNotRemovedForBeingThere() throws {
        try container.documents.makeFolder()
        let file = container.document("a.txt")
        try Data("only one".utf8).write(to: file)
        let link = container.root.appending(path: "link")
        try link.makeLink(to: container.documents)
        let engine = try container.engine()
        _ = try migrate(engine, as: .promoted(to: .documents), of: link)
        #expect(try Data(contentsOf: file) == Data("only one".utf8))
    }

    @Test func whatIsNoFileStays() throws {
        try write(prose(10), "fine.txt")
        try old.appending(path: "link").makeLink(to: old.appending(path: "fine.txt"))
        try FileManager.default.createSymbolicLink(
            atPath: old.appending(path: "circle").path, withDestinationPath: ".")
        #expect(mkfifo(old.appending(path: "pipe").path, 0o600) == 0)
        let engine = try container.engine()
        let outcomes = try migrate(engine, as: .promoted(to: .documents))
        for name in ["link", "circle", "pipe"] { #expect(outcomes[name] == .left(.notARegularFile)) }
        #expect(outcomes.count == 4 && isMoved(outcomes["fine.txt"]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: old.path).count == 3)
    }

    @Test func namesThatCannotBeKeptStay() throws {
        for name in [".hidden", "line\nbreak", "\u{202E}fdp.exe"] { try write(prose(10), name) }
        let invalid = old.path + "/bad-"
        let path = Array(invalid.utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        try LiveFileSystem().withFile(
            FilePath(platformString: path), in: .workingDirectory, .createNew(.ownerReadWrite)
        ) { _ in }
        let engine = try container.engine()
        let outcomes = try migrate(engine, as: .promoted(to: .documents))
        #expect(outcomes.count == 4)
        for (name, outcome) in outcomes {
            let isNamed = isLeft(outcome) { if case .name = $0 { true } else { false } }
            #expect(isNamed, "\(name): \(outcome)")
        }
    }

    /// Not deeper: with more than 1,355 open files Foundation's `Process` can crash, see
    /// https://github.com/swiftlang/swift-corelibs-foundation/pull/5472.
    @Test func hundredsOfFoldersDeepIsWalkedAndStays() throws {
        try write(prose(10), "fine.txt")
        var folder = Directory(
            try LiveFileSystem().open(FilePath(old.path), in: .workingDirectory, .directory),
            of: LiveFileSystem())
        for _ in 0..<TestRun.count(short: 50, long: 400) {
            folder = try folder.openOrCreate("d", permissions: .ownerReadWriteExecute)
        }
        try LiveFileSystem().withFile("deep", in: folder.descriptor, .createNew(.ownerReadWrite)) { _ in }
        let engine = try container.engine()
        let outcomes = try migrate(engine, as: .promoted(to: .documents))
        #expect(outcomes.count == 2 && isMoved(outcomes["fine.txt"]))
        // What the test has made is too deep for the one who removes it.
        for _ in 0..<2 { _ = try SystemCommand.run("/bin/rm", "-rf", old.path) }
    }

    @Test func theCachesOwnFoldersAreNone() throws {
        let engine = try container.engine()
        try engine.store(prose(100), "k")
        for folder in [container.caches, container.support, container.items] {
            #expect(try migrate(engine, as: .promoted(to: .documents), of: folder) == [".": .left(.ours)])
        }
        try write(prose(10), "a.txt")
        let outcomes = try migrate(engine, as: .promoted(to: .documents), of: container.root)
        #expect(isMoved(outcomes["old/a.txt"]))
        #expect(outcomes["Library/Caches/PrefetchCache"] == .left(.ours))
        #expect(try engine.content("k") == prose(100))
        // Where the first one has gone is not moved on.
        let again = try migrate(engine, as: .promoted(to: .documents), of: container.root)
        #expect(again["Documents"] == .left(.ours))
        #expect(try container.files(below: container.documents) == ["old/a.txt"])
    }

    @Test func aFileThatIsWrittenMeanwhileStays() throws {
        let file = try write(noise(3 << 20), "a.bin")
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        fileSystem.intercept { operation in
            guard operation.kind == .synchronize, operation.name == "a.bin" else { return }
            do { try Data("new".utf8).write(to: file) } catch { Issue.record(error) }
        }
        #expect(try migrate(engine, as: .promoted(to: .documents))["a.bin"] == .left(.changed))
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(try engine.ledger.entry(for: "a.bin") == nil)
    }

    @Test func aFileThatIsReplacedAtTheLastMomentGoesBack() throws {
        let file = try write(noise(5000), "a.bin")
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        fileSystem.once(before: { $0.kind == .rename && $0.name == "a.bin" }) {
            try file.move(to: file.appendingPathExtension("old"))
            try Data("new".utf8).write(to: file)
        }
        #expect(try migrate(engine, as: .promoted(to: .documents))["a.bin"] == .left(.changed))
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(try engine.ledger.entry(for: "a.bin") == nil)
        #expect(try container.files(below: container.documents).isEmpty)
    }

    @Test func anotherContentUnderAKeyStays() throws {
        let engine = try container.engine()
        try engine.store(prose(100), "a.txt")
        _ = try engine.open("a.txt")
        try write(prose(100, seed: 2), "a.txt")
        #expect(try migrate(engine, as: .promoted(to: .documents)) == ["a.txt": .left(.keyIsTaken)])
        #expect(try migrate(engine, as: .cached(to: .documents)) == ["a.txt": .left(.keyIsTaken)])
        #expect(try leftInOld == ["a.txt"])
    }

    // MARK: As items

    @Test func filesBecomeItems() throws {
        let contents = ["a.txt": prose(30_000), "Podcasts/b.mp3": noise(70_000), "empty": Data()]
        for (path, content) in contents { try write(content, path) }
        let engine = try container.engine()
        let told = try migrate(engine, as: .cached(to: .documents), isDryRun: true)
        let done = try migrate(engine, as: .cached(to: .documents))
        #expect(told == done)
        #expect(done.values.allSatisfy(isStored) && done.count == 3)
        #expect(try leftInOld.isEmpty)
        for (path, content) in contents { #expect(try engine.content(ItemKey(path)) == content) }
        #expect(try engine.items().allSatisfy { $0.source == "old" })
        let opened = try #require(try engine.open("Podcasts/b.mp3").value)
        #expect(opened.path.string.hasSuffix("Documents/Podcasts/b.mp3"))
    }

    @Test func whatWasStoredBeforeTheEndIsMerged() throws {
        let engine = try container.engine()
        let metadata = ItemMetadata(key: "a.txt", source: "feed", destination: .documents("another name"))
        try engine.store(prose(3000), as: metadata)
        try engine.store(prose(3000), "b.txt")
        try write(prose(3000), "a.txt")
        try write(prose(3000, seed: 2), "b.txt")
        let outcomes = try migrate(engine, as: .cached(to: .documents))
        #expect(outcomes == ["a.txt": .merged(.item(ItemKey("a.txt").hash)), "b.txt": .left(.keyIsTaken)])
        let kept = try #require(try engine.description(of: "a.txt")).metadata
        #expect(kept.source == metadata.source && kept.destination == metadata.destination)
        #expect(try leftInOld == ["b.txt"])
    }

    @Test(arguments: [0, 100]) func whatAPowerCutHasTornIsStoredAnew(length: UInt64) throws {
        let engine = try container.engine()
        try engine.store(prose(3000), "a.txt")
        let item = try FileHandle(forWritingTo: container.item("a.txt"))
        try item.truncate(atOffset: length)
        try item.close()
        try write(prose(3000), "a.txt")
        let told = try migrate(engine, as: .cached(to: .documents), isDryRun: true)
        let done = try migrate(engine, as: .cached(to: .documents))
        #expect(told == done && done == ["a.txt": .stored(.item(ItemKey("a.txt").hash))])
        #expect(try engine.content("a.txt") == prose(3000))
        #expect(try leftInOld.isEmpty)
    }

    @Test func whatIsThereAndExpiredCanBeOpenedAgain() throws {
        let engine = try container.engine()
        var metadata = ItemMetadata(key: "a.txt", destination: .documents("a.txt"))
        metadata.expiresAt = 1
        let earlier = try container.engine(now: { 0 })
        try earlier.store(prose(3000), as: metadata)
        try earlier.close()
        try write(prose(3000), "a.txt")
        _ = try migrate(engine, as: .cached(to: .documents))
        #expect(try leftInOld.isEmpty)
        #expect(try engine.open("a.txt").value != nil)
    }

    @Test func whereThereIsNoRoomToWriteItAnewWhatIsThereStays() throws {
        let engine = try container.engine()
        try engine.store(noise(400_000), "a.bin")
        try write(noise(400_000), "a.bin")
        _ = try engine.configure { $0.budget = .fixed(.kibibytes(600)) }
        let told = try migrate(engine, as: .cached(to: .documents), isDryRun: true)
        let done = try migrate(engine, as: .cached(to: .documents))
        #expect(told == done)
        let isRefused = isLeft(done["a.bin"]) { if case .refused = $0 { true } else { false } }
        #expect(isRefused, "\(done)")
        #expect(try leftInOld == ["a.bin"])
        #expect(try engine.content("a.bin") == noise(400_000))
    }

    @Test func noItemMakesWayForAnother() throws {
        let engine = try container.engine()
        _ = try engine.configure { $0.budget = .fixed(.mebibytes(2)) }
        for number in 0..<6 { try write(noise(400_000, seed: UInt64(number)), "\(number).bin") }
        let outcomes = try migrate(engine, as: .cached(to: .documents))
        let stored = outcomes.filter { isStored($0.value) }
        #expect(stored.count == 4)
        #expect(try engine.items().count == 4 && leftInOld.count == 2)
        for key in stored.keys { #expect(try engine.content(ItemKey(key)) != nil) }
    }

    // MARK: What others do

    /// The second migration of a file comes in before the first has it to itself, or while it stores it.
    @Test(arguments: [FileSystemTestSupport.Operation.Kind.lock, .read])
    func twoMigrationsOfOneFileLoseNothing(when kind: FileSystemTestSupport.Operation.Kind) throws {
        try write(prose(9000), "a.txt")
        let fileSystem = InterceptingFileSystem()
        let (one, other) = (try container.engine(fileSystem: fileSystem), try container.engine())
        let inner = Mutex<[String: MigratedFile.Outcome]?>(nil)
        fileSystem.intercept { operation in
            guard operation.kind == kind, operation.name == "a.txt", inner.withLock({ $0 }) == nil else {
                return
            }
            inner.withLock { $0 = [:] }
            do {
                let outcomes = try migrate(other, as: .cached(to: .documents))
                inner.withLock { $0 = outcomes }
            } catch {
                Issue.record(error)
            }
        }
        let outer = try migrate(one, as: .cached(to: .documents))
        let outcomes = [outer["a.txt"], inner.withLock { $0?["a.txt"] }]
        #expect(outcomes.filter(isStored).count == 1)
        #expect(outcomes.contains(.left(.changed)))
        #expect(try other.content("a.txt") == prose(9000))
        #expect(try leftInOld.isEmpty)
    }

    @Test(arguments: [(FileSystemTestSupport.Operation.Kind.entries, "b"), (.attributes, "2")])
    func whatCannotBeLookedAtDoesNotKeepTheOthers(
        kind: FileSystemTestSupport.Operation.Kind, name: String
    ) throws {
        for path in ["a/1", "b/2", "c/3"] { try write(prose(100), path) }
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        fileSystem.fail(.permissionDenied) { $0.kind == kind && $0.name == name }
        let outcomes = try migrate(engine, as: .promoted(to: .documents))
        #expect(isMoved(outcomes["a/1"]) && isMoved(outcomes["c/3"]))
        let hasFailed = isLeft(outcomes[name == "b" ? "b" : "b/2"]) {
            if case .failed = $0 { true } else { false }
        }
        #expect(hasFailed, "\(outcomes)")
        #expect(try leftInOld == ["b/2"])
    }

    /// A folder above may be passed and not listed, as `/home` is on shared machines.
    @Test func aFolderAboveThatCannotBeOpenedIsNoObstacle() throws {
        try write(prose(100), "a.txt")
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        fileSystem.fail(.permissionDenied) { $0.kind == .open && $0.name == ".." }
        #expect(isMoved(try migrate(engine, as: .promoted(to: .documents))["a.txt"]))
    }
}
