import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What the user does while a file is purged.
@Suite struct PurgedAsideTests {
    private func open(_ key: ItemKey, _ engine: Engine) throws -> URL {
        let metadata = ItemMetadata(
            key: key, destination: .applicationSupport(FileName(sanitizing: key.string), backup: .exclude))
        _ = try prose(9000).withBytes { bytes throws(CacheError) in
            try engine.store(bytes, as: metadata, encoding: .automatic)
        }
        return try #require(try engine.open(key).value).url
    }

    /// Between any two calls, in turn, until the purge needs no more.
    @Test func aFileTheUserSavesWhileItIsPurgedStays() throws {
        var moment = 0
        while true {
            moment += 1
            let container = try TemporaryContainer()
            let fileSystem = InterceptingFileSystem()
            let engine = try container.engine(fileSystem: fileSystem)
            let file = try open("Doc.txt", engine)
            let count = CallCounter()
            let at = moment
            let draft = container.root.appending(path: "draft")
            fileSystem.intercept { _ in
                guard count.next() == at else { return }
                do {
                    // As editors save.
                    try Data("saved".utf8).write(to: draft)
                    guard rename(draft.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
                } catch {
                    Issue.record(error)
                }
            }
            let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
            fileSystem.intercept { _ in }
            guard count.next() > moment else { break }
            let folder = file.deletingLastPathComponent()
            let contents = try container.files(below: folder).map {
                try Data(contentsOf: folder.appending(path: $0))
            }
            #expect(contents == [Data("saved".utf8)], "moment \(moment): \(report)")
            let staging = try container.files(below: container.support.appending(path: "staging"))
            #expect(staging.allSatisfy { $0.hasSuffix(".lock") }, "moment \(moment)")
            try engine.close()
        }
        #expect(moment > 8)
    }

    #if os(Linux)
        /// A program has it open from before, and writes between any two calls, in turn.
        @Test func whatAProgramWritesIntoAFileThatIsPurgedStays() throws {
            var moment = 0
            while true {
                moment += 1
                let container = try TemporaryContainer(in: .fastTemporaryFolder)
                let fileSystem = InterceptingFileSystem()
                let engine = try container.engine(fileSystem: fileSystem)
                let file = try open("Doc.txt", engine)
                let writer = try Mutex<FileHandle?>(FileHandle(forWritingTo: file))
                let count = CallCounter()
                let at = moment
                fileSystem.intercept { _ in
                    guard count.next() == at else { return }
                    do {
                        try writer.withLock { writer in
                            try writer?.write(contentsOf: Data("written".utf8))
                            try writer?.close()
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
                let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
                fileSystem.intercept { _ in }
                guard count.next() > moment else { break }
                #expect(report.purged.isEmpty && report.changed.count == 1, "moment \(moment)")
                #expect(
                    FileManager.default.contents(atPath: file.path)?.prefix(7) == Data("written".utf8),
                    "moment \(moment)")
                try engine.close()
            }
            #expect(moment > 8)
        }
    #endif

    /// A file that cannot be removed after all is back under its name.
    @Test func aFileThatCannotBeRemovedIsBackUnderItsName() throws {
        let container = try TemporaryContainer()
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let file = try open("Doc.txt", engine)
        fileSystem.intercept { operation throws(FileSystemError) in
            if operation.kind == .unlink { throw FileSystemError("unlink", errno: .ioError) }
        }
        let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
        #expect(report.purged.isEmpty && report.failures.map(\.key) == ["Doc.txt"])
        #expect(try Data(contentsOf: file) == prose(9000))
        #expect(try engine.ledger.entry(for: "Doc.txt")?.state == .committed)
    }

    @Test func repairMovesBackWhatADeadProcessHadMovedAside() throws {
        let container = try TemporaryContainer()
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        let file = try open("Doc.txt", dying)
        fileSystem.intercept { operation in
            if operation.kind == .unlink { fileSystem.die() }
        }
        do { _ = try dying.purgeExcluded(unusedSince: .max, isDryRun: false) } catch {
            #expect("\(error)" != "")
        }
        let engine = try container.engine(isRecovering: false)
        for isDryRun in [true, false] {
            #expect(!FileManager.default.fileExists(atPath: file.path))
            let report = try engine.repair(isDryRun: isDryRun)
            #expect(report.steps.contains { $0.action == .promotionResolved && $0.key == "Doc.txt" })
        }
        #expect(try Data(contentsOf: file) == prose(9000))
        try engine.close()
    }

    /// A process died after it had moved a file aside.
    @Test func aFileThatWasMovedAsideComesBack() throws {
        let container = try TemporaryContainer()
        let isDead = Mutex(false)
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        let file = try open("Doc.txt", dying)
        fileSystem.intercept { operation in
            guard operation.kind == .unlink, !isDead.withLock({ $0 }) else { return }
            isDead.withLock { $0 = true }
            do {
                #expect(!FileManager.default.fileExists(atPath: file.path))
                try Data("new".utf8).write(to: file)
            } catch {
                Issue.record(error)
            }
            fileSystem.die()
        }
        do { _ = try dying.purgeExcluded(unusedSince: .max, isDryRun: false) } catch {
            #expect("\(error)" != "")
        }
        let engine = try container.engine()
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        let other = file.deletingLastPathComponent().appending(path: "Doc (2).txt")
        #expect(try Data(contentsOf: other) == prose(9000))
        let staging = try container.files(below: container.support.appending(path: "staging"))
        #expect(staging.allSatisfy { $0.hasSuffix(".lock") })
        try engine.close()
    }

    /// One process died while it purged a file, and the next one when it had moved the file back: its name is not durable
    /// yet, and nobody who opens the item can see that.
    @Test func aFileThatWasMovedBackIsDurableBeforeItIsFound() throws {
        let container = try TemporaryContainer()
        let purging = InterceptingFileSystem()
        let first = try container.engine(fileSystem: purging)
        let file = try open("Doc.txt", first)
        let folder = file.deletingLastPathComponent()
        purging.intercept { [unowned purging] operation in
            if operation.kind == .unlink { purging.die() }
        }
        do { _ = try first.purgeExcluded(unusedSince: .max, isDryRun: false) } catch {
            #expect("\(error)" != "")
        }

        let movingBack = InterceptingFileSystem()
        movingBack.intercept { [unowned movingBack] operation in
            if operation.kind == .synchronize, operation.path == folder.path { movingBack.die() }
        }
        do { _ = try container.engine(fileSystem: movingBack) } catch { #expect("\(error)" != "") }
        #expect(try Data(contentsOf: file) == prose(9000))

        let flushes = CallCounter()
        let opening = InterceptingFileSystem { operation in
            if operation.kind == .synchronize, operation.path == folder.path { _ = flushes.next() }
        }
        let engine = try container.engine(fileSystem: opening)
        #expect(try engine.open("Doc.txt").value?.url == file)
        #expect(flushes.next() == 1)
        let staging = try container.files(below: container.support.appending(path: "staging"))
        #expect(staging.allSatisfy { $0.hasSuffix(".lock") })
        try engine.close()
    }
}

/// What other programs do while their files are migrated.
@Suite struct WrittenWhileMigratedTests {
    private let container: TemporaryContainer
    private let old: URL

    init() throws {
        container = try TemporaryContainer()
        old = container.root.appending(path: "old", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
    }

    private func migrate(_ engine: Engine, as role: MigrationRequest.Role) throws -> [MigratedFile.Outcome] {
        let request = MigrationRequest(of: FilePath(old.path), as: role, source: "old")
        var outcomes: [MigratedFile.Outcome] = []
        try Migrator(engine: engine, request: request, isDryRun: false).run { outcomes.append($0.outcome) }
        return outcomes
    }

    private static let roles: [MigrationRequest.Role] = [
        .cached(to: .documents), .promoted(to: .documents),
    ]

    /// Takes in a file, which as a file of the user's is there already with the same content, while `hand` comes before
    /// the calls.
    private func migrate(
        as role: MigrationRequest.Role,
        _ hand: @escaping @Sendable (InterceptingFileSystem, FileSystemTestSupport.Operation) throws -> Void
    ) throws {
        for folder in [old, container.documents] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try prose(9000).write(to: old.appending(path: "Doc.txt"))
        if role == .promoted(to: .documents) {
            try prose(9000).write(to: container.documents.appending(path: "Doc.txt"))
        }
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        fileSystem.intercept { [unowned fileSystem] operation in
            do { try hand(fileSystem, operation) } catch { Issue.record(error) }
        }
        do {
            _ = try migrate(engine, as: role)
            fileSystem.intercept { _ in }
            try engine.close()
        } catch is CacheError {}
    }

    private func save(_ text: String, as file: URL) throws {
        let draft = container.root.appending(path: "draft")
        try Data(text.utf8).write(to: draft)
        guard rename(draft.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Between any two calls, in turn, until the migration needs no more.
    @Test(arguments: roles)
    func aFileTheUserSavesWhileItIsMigratedStays(role: MigrationRequest.Role) throws {
        for moment in TestRun.numbers(every: 15) {
            let test = try Self()
            let file = test.old.appending(path: "Doc.txt")
            let count = CallCounter()
            try test.migrate(as: role) { _, _ in
                if count.next() == moment { try test.save("saved", as: file) }
            }
            guard count.next() > moment else {
                #expect(moment > 30)
                break
            }
            // Before it is looked at it is a file to migrate like any other.
            let engine = try test.container.engine()
            let item = try engine.content("Doc.txt")
            let isSaved = try [test.old, test.container.documents].contains { folder in
                try test.container.files(below: folder).contains {
                    !$0.hasPrefix(".")
                        && FileManager.default.contents(atPath: folder.appending(path: $0).path)
                            == Data("saved".utf8)
                }
            }
            #expect(isSaved || item == Data("saved".utf8), "moment \(moment)")
            try engine.close()
        }
    }

    /// A process died after it had moved a file aside.
    @Test(arguments: roles)
    func aFileThatAMigrationHadMovedAsideComesBack(role: MigrationRequest.Role) throws {
        let file = old.appending(path: "Doc.txt")
        try migrate(as: role) { fileSystem, operation in
            guard operation.kind == .unlink, operation.name.hasSuffix("Doc.txt") else { return }
            #expect(!FileManager.default.fileExists(atPath: file.path))
            try save("new", as: file)
            fileSystem.die()
        }
        let engine = try container.engine()
        let outcomes = try migrate(engine, as: role)
        #expect(outcomes.contains(.left(.keyIsTaken)), "\(outcomes)")
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(try container.files(below: old) == ["Doc.txt"])
        #expect(try engine.content("Doc.txt") == prose(9000))
        #expect(try engine.content("Doc (2).txt") == prose(9000))
        try engine.close()
    }

    #if os(Linux)
        /// Whether it is open before the migration, or from some call on.
        @Test(arguments: [MigrationRequest.Role.cached(to: .documents), .promoted(to: .documents)], 0..<2)
        func aFileThatAnotherProgramIsWritingStays(role: MigrationRequest.Role, when: Int) throws {
            let file = old.appending(path: "film.mp4")
            try noise(70_000).write(to: file)
            let writer = Mutex<FileHandle?>(nil)
            let fileSystem = InterceptingFileSystem()
            let engine = try container.engine(fileSystem: fileSystem)
            let open: @Sendable () throws -> Void = {
                let handle = try FileHandle(forWritingTo: file)
                writer.withLock { $0 = handle }
            }
            if when == 0 { try open() }
            fileSystem.intercept { operation in
                // It is being read.
                guard when == 1, operation.kind == .read, operation.name == "film.mp4",
                    writer.withLock({ $0 }) == nil
                else { return }
                do { try open() } catch { Issue.record(error) }
            }
            #expect(try migrate(engine, as: role) == [.left(.changed)])
            #expect(try Data(contentsOf: file) == noise(70_000))
            #expect(try engine.content("film.mp4") == nil)
            try writer.withLock { $0 }?.close()
            fileSystem.intercept { _ in }
            #expect(try migrate(engine, as: role).count == 1)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(try engine.content("film.mp4") == noise(70_000))
        }
    #endif
}
