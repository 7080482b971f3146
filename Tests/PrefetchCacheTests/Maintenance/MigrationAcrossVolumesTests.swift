import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Files that go to another volume: they are copied, and the old ones go when the copies are durable.
@Suite(.enabled(if: SmallVolume.isPossible, "Mounting a volume needs root on Linux."), .serialized)
struct MigrationAcrossVolumesTests {
    private static let contents: [String: Data] = [
        "a.txt": prose(30_000), "Podcasts/b.mp3": noise(2_500_000), "empty": Data(),
    ]

    /// A container on a volume of its own, and a folder of files on another one.
    private struct Setting {
        let container: TemporaryContainer
        private let elsewhere: TemporaryContainer
        var old: URL { elsewhere.root.appending(path: "old") }

        init(on volume: SmallVolume) throws {
            container = try TemporaryContainer(in: volume.root)
            elsewhere = try TemporaryContainer()
            for (path, content) in contents {
                let file = old.appending(path: path)
                try file.place(content)
            }
        }

        /// - Returns: What stays.
        func migrate(_ engine: Engine) throws -> [String: MigratedFile.Obstacle] {
            var left: [String: MigratedFile.Obstacle] = [:]
            let request = MigrationRequest(of: FilePath(old.path), as: .promoted(to: .documents))
            try Migrator(engine: engine, request: request, isDryRun: false).run { file in
                if case .left(let obstacle) = file.outcome { left[file.path] = obstacle }
            }
            return left
        }

        /// How often each content is there, old or new.
        func copies() throws -> [String: Int] {
            var copies = contents.mapValues { _ in 0 }
            for folder in [old, container.documents] {
                for path in try container.files(below: folder) where !path.hasPrefix(".") {
                    let content = try Data(contentsOf: folder.appending(path: path))
                    for (name, wanted) in contents where wanted == content { copies[name, default: 0] += 1 }
                }
            }
            return copies
        }

        func expectAllMoved(_ engine: Engine, _ comment: Comment? = nil) throws {
            #expect(try container.files(below: old) == [], comment)
            #expect(try copies().values.allSatisfy { $0 == 1 }, comment)
            for (path, content) in contents {
                let opened = try #require(try engine.open(ItemKey(path)).value, comment)
                #expect(!opened.isFirstOpen, comment)
                #expect(try Data(contentsOf: opened.url) == content, comment)
            }
            let staged = try container.files(below: container.staging)
            #expect(staged.filter { !$0.hasSuffix(".lock") } == [], comment)
        }
    }

    @Test(arguments: SmallVolume.kinds) func filesAreCopiedAndThenGo(_ kind: SmallVolume.Kind) throws {
        let setting = try Setting(on: SmallVolume(kind, megabytes: 40))
        let engine = try setting.container.engine(probe: nil)
        #expect(try setting.migrate(engine) == [:])
        try setting.expectAllMoved(engine)
        #expect(try setting.migrate(engine) == [:])
        try engine.close()
    }

    @Test(arguments: SmallVolume.kinds) func whatIsNotContentIsCopiedAsWell(_ kind: SmallVolume.Kind) throws {
        let setting = try Setting(on: SmallVolume(kind, megabytes: 40))
        let live = LiveFileSystem()
        let modified: Int64 = 981_173_106_500_000_000
        let sparse = setting.old.appending(path: "sparse.img")
        try Data().write(to: sparse)
        func properties(_ file: URL) throws -> (FileAttributes, [UInt8]?) {
            try live.withFile(FilePath(file.path), in: .workingDirectory, .read) {
                file throws(FileSystemError) in
                (try live.attributes(of: file), try live.extendedAttribute("user.origin", of: file))
            }
        }
        var keepsAttributes = true
        try live.withFile(FilePath(sparse.path), in: .workingDirectory, .readWrite) {
            file throws(FileSystemError) in
            try live.writeAll([1, 2, 3], to: file, at: 3 << 20)
            try live.resize(file, to: 8 << 20)
            do { try live.setExtendedAttribute("user.origin", to: [7], of: file) } catch {
                keepsAttributes = false
            }
            try live.setPermissions([.ownerReadWrite, .groupRead], of: file)
            try live.setTimes(accessed: modified, modified: modified, of: file)
        }
        let before = try properties(sparse).0
        let engine = try setting.container.engine(probe: nil)
        let left = try setting.migrate(engine)
        // A volume without attributes cannot keep it, and so the file stays, and that is told.
        guard left["sparse.img"] == nil else {
            #expect(sparse.exists)
            return
        }
        let (after, origin) = try properties(setting.container.document("sparse.img"))
        #expect(after.permissions == before.permissions && after.modified == modified)
        #expect(after.length == 8 << 20 && after.allocated < 1 << 20)
        #expect(!keepsAttributes || origin == [7])
        #expect(!sparse.exists)
        try engine.close()
    }

    @Test(arguments: SmallVolume.kinds) func aFullDestinationKeepsFilesWhereTheyAre(_ kind: SmallVolume.Kind)
        throws
    {
        let volume = try SmallVolume(kind, megabytes: 40)
        let setting = try Setting(on: volume)
        let engine = try setting.container.engine(probe: nil)
        try engine.store(prose(100), "first")
        _ = try engine.open("first")
        try volume.fill()
        let left = try setting.migrate(engine)
        #expect(left["a.txt"] != nil && left["Podcasts/b.mp3"] != nil)
        let isTold = left.values.allSatisfy { obstacle in
            switch obstacle {
            case .refused, .failed(.insufficientSpace), .failed(.database): true
            case .failed(.destination(_, let error)), .failed(.fileSystem(let error)): error.isOutOfSpace
            default: false
            }
        }
        #expect(isTold, "\(left)")
        #expect(try setting.copies().values.allSatisfy { $0 == 1 })
        #expect(try setting.container.files(below: setting.old).count >= 2)

        try volume.leave(30 << 20)
        #expect(try setting.migrate(engine) == [:])
        try setting.expectAllMoved(engine)
        try engine.close()
    }

    enum Interruption: Sendable, CaseIterable {
        case inputOutput, noSpace, death
    }

    /// At calls that change something; at every call at all in the long version.
    @Test(arguments: Interruption.allCases) func wheneverItIsInterrupted(_ interruption: Interruption) throws
    {
        let volume = try SmallVolume(.tmpfs, megabytes: 200)
        var interrupted = 0
        // A sample, but for the long version, which begins elsewhere each time.
        let (first, step) = TestRun.isLong ? (1, 1) : (1 + Int(TestRun.seed % 7), 7)
        for point in stride(from: first, to: .max, by: step) {
            let setting = try Setting(on: volume)
            let comment: Comment = "\(interruption) at call \(point), seed \(TestRun.seed)"
            let fileSystem = InterceptingFileSystem()
            let engine = try setting.container.engine(fileSystem: fileSystem, probe: nil)
            let passed = CallCounter()
            fileSystem.intercept { [unowned fileSystem] operation throws(FileSystemError) in
                guard TestRun.isLong || operation.isChange, passed.next() + 1 == point else { return }
                switch interruption {
                case .inputOutput: throw FileSystemError("\(operation)", errno: .ioError)
                case .noSpace: throw FileSystemError("\(operation)", errno: .noSpace)
                case .death: fileSystem.die()
                }
            }
            do {
                _ = try setting.migrate(engine)
            } catch is CacheError {}
            let isInterrupted = passed.next() >= point
            fileSystem.intercept { _ in }
            #expect(try setting.copies().values.allSatisfy { $0 >= 1 }, comment)
            if interruption != .death { try engine.close() }

            let next = try setting.container.engine(probe: nil)
            #expect(try setting.migrate(next) == [:], comment)
            try setting.expectAllMoved(next, comment)
            try next.close()
            guard isInterrupted else { break }
            interrupted += 1
        }
        print("migration to another volume, \(interruption): \(interrupted) calls")
        #expect(interrupted > (TestRun.isLong ? 40 : 5))
    }
}
