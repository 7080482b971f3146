import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What the user does while a file is purged.
@Suite struct PurgedAsideTests {
    private let container = TemporaryContainer.make()
    private let fileSystem = InterceptingFileSystem()

    private func open(_ engine: Engine) throws -> URL {
        let destination = Destination.applicationSupport("Doc.txt", backup: .exclude)
        try engine.store(prose(9000), as: ItemMetadata(key: "Doc.txt", destination: destination))
        return try #require(try engine.open("Doc.txt").value).url
    }

    /// A process opens a file, and dies when it has moved it aside to purge it.
    ///
    /// - Parameter hand: What its user does at that moment.
    private func openAndDie(_ hand: @escaping @Sendable (URL) throws -> Void = { _ in }) throws -> URL {
        let dying = try container.engine(fileSystem: fileSystem)
        let file = try open(dying)
        fileSystem.once(before: { $0.kind == .unlink }) { [unowned fileSystem] in
            #expect(!file.exists)
            try hand(file)
            fileSystem.die()
        }
        attempt { _ = try dying.purgeExcluded(unusedSince: .max, isDryRun: false) }
        return file
    }

    /// Between any two calls, in turn, until the purge needs no more.
    @Test func aFileTheUserSavesWhileItIsPurgedStays() throws {
        #expect(try HandedRun.expectNothingBroken(.purges, .replaces) > 8)
    }

    #if os(Linux)
        /// A program has it open from before, and writes between any two calls, in turn.
        @Test func whatAProgramWritesIntoAFileThatIsPurgedStays() throws {
            for moment in 0... {
                let container = try TemporaryContainer(in: .fastTemporaryFolder)
                let fileSystem = InterceptingFileSystem()
                let engine = try container.engine(fileSystem: fileSystem)
                let file = try open(engine)
                let writer = try FileHandle(forWritingTo: file)
                let calls = fileSystem.once(before: { _ in true }, after: moment) {
                    try writer.write(contentsOf: Data("written".utf8))
                    try writer.close()
                }
                let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
                fileSystem.intercept { _ in }
                guard calls.value > moment else { return #expect(moment > 8) }
                #expect(report.purged.isEmpty && report.changed.count == 1, "moment \(moment)")
                #expect(try Data(contentsOf: file).prefix(7) == Data("written".utf8), "moment \(moment)")
                try engine.close()
            }
        }
    #endif

    /// A file that cannot be removed after all is back under its name.
    @Test func aFileThatCannotBeRemovedIsBackUnderItsName() throws {
        let engine = try container.engine(fileSystem: fileSystem)
        let file = try open(engine)
        fileSystem.fail { $0.kind == .unlink }
        let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
        #expect(report.purged.isEmpty && report.failures.map(\.key) == ["Doc.txt"])
        #expect(try Data(contentsOf: file) == prose(9000))
        #expect(try engine.ledger.entry(for: "Doc.txt")?.state == .committed)
    }

    @Test func repairMovesBackWhatADeadProcessHadMovedAside() throws {
        let file = try openAndDie()
        let engine = try container.engine(isRecovering: false)
        for isDryRun in [true, false] {
            #expect(!file.exists)
            let report = try engine.repair(isDryRun: isDryRun)
            #expect(report.steps.contains { $0.action == .promotionResolved && $0.key == "Doc.txt" })
        }
        #expect(try Data(contentsOf: file) == prose(9000))
    }

    @Test func aFileThatWasMovedAsideComesBack() throws {
        let file = try openAndDie { try Data("new".utf8).write(to: $0) }
        _ = try container.engine()
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        let other = file.deletingLastPathComponent().appending(path: "Doc (2).txt")
        #expect(try Data(contentsOf: other) == prose(9000))
        #expect(try container.staged() == [])
    }

    /// One process died while it purged a file, and the next one when it had moved the file back: its name is not durable
    /// yet, and nobody who opens the item can see that.
    @Test func aFileThatWasMovedBackIsDurableBeforeItIsFound() throws {
        let file = try openAndDie()
        let folder = file.deletingLastPathComponent()
        let movingBack = InterceptingFileSystem()
        movingBack.die(before: { $0.kind == .synchronize && $0.path == folder.path })
        attempt { _ = try container.engine(fileSystem: movingBack) }
        #expect(try Data(contentsOf: file) == prose(9000))

        let log = OperationLog()
        let engine = try container.engine(fileSystem: log.fileSystem())
        #expect(try engine.open("Doc.txt").value?.url == file)
        #expect(log.operations.count { $0.kind == .synchronize && $0.path == folder.path } == 1)
        #expect(try container.staged() == [])
    }
}

/// What other programs do while their files are migrated.
@Suite struct WrittenWhileMigratedTests {
    private let container = TemporaryContainer.make()
    private let old: URL

    init() throws {
        old = container.root.appending(path: "old", directoryHint: .isDirectory)
        try old.makeFolder()
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

    /// Between any two calls, in turn, until the migration needs no more.
    @Test(arguments: [HandedWork.migrates, .merges])
    func aFileTheUserSavesWhileItIsMigratedStays(work: HandedWork) throws {
        let moments = try HandedRun.expectNothingBroken(work, .replaces, every: 15)
        #expect(moments > TestRun.count(short: 2, long: 30))
    }

    /// A process died after it had moved a file aside, which as a file of the user's was there already.
    @Test(arguments: roles)
    func aFileThatAMigrationHadMovedAsideComesBack(role: MigrationRequest.Role) throws {
        let file = old.appending(path: "Doc.txt")
        try file.place(prose(9000))
        if role == .promoted(to: .documents) { try container.document("Doc.txt").place(prose(9000)) }
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        fileSystem.once(before: { $0.kind == .unlink && $0.name.hasSuffix("Doc.txt") }) {
            [unowned fileSystem] in
            #expect(!file.exists)
            try Data("new".utf8).write(to: file, options: .atomic)
            fileSystem.die()
        }
        attempt { _ = try migrate(dying, as: role) }
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
            #expect(!file.exists)
            #expect(try engine.content("film.mp4") == noise(70_000))
        }
    #endif
}
