import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// The folder of each area below which backups exclude everything.
@Suite struct ExcludedFolderTests {
    private static let areas = [Area.documents, .applicationSupport]
    private let container = TemporaryContainer.make()
    private let live = LiveFileSystem()

    private func engine() throws -> Engine {
        try container.engine(areas: container.areas().excluding(into: "org.example.app"))
    }

    private func top(of area: Area) -> URL {
        area == .documents ? container.documents : container.support.appending(path: "files")
    }

    private func group(in area: Area) -> URL { top(of: area).appending(path: "org.example.app") }

    /// - Returns: The path of the opened file below its area's folder of promoted items.
    @discardableResult
    private func open(
        _ key: ItemKey, in area: Area, by engine: Engine, _ folder: FolderPath? = nil,
        backup: BackupPolicy = .exclude, encoding: ItemEncoding = .lz4
    ) throws -> String {
        let destination = Destination.in(area, FileName(sanitizing: key.string), folder, backup: backup)
        let metadata = ItemMetadata(key: key, destination: destination)
        try engine.store(prose(3000, seed: 3), as: metadata, encoding: .forced(encoding))
        let path = try #require(try engine.open(key).value).path
        return String(path.string.dropFirst(top(of: area).path.count + 1))
    }

    /// Files inherit the no-dump flag of their folder on some file systems, but no attribute.
    private func hasMarkOfItsOwn(_ url: URL) throws -> Bool {
        try live.withFile(FilePath(url.path), in: .workingDirectory, .read) { file throws(FileSystemError) in
            try BackupMark(fileSystem: live).attribute(BackupMark.xdgAttribute, of: file) != nil
        }
    }

    /// Not on every file system.
    private var hasMarks: Bool {
        get throws {
            let file = container.root.appending(path: "marked")
            try Data().write(to: file)
            do {
                try file.set(.exclude)
                return true
            } catch let error as FileSystemError where error.isUnsupported {
                return false
            }
        }
    }

    @Test(arguments: areas, [ItemEncoding.lz4, .identity])
    func theFolderIsMarkedOnceAndTagged(_ area: Area, _ encoding: ItemEncoding) throws {
        guard try hasMarks else { return }
        let engine = try engine()
        #expect(try open("map", in: area, by: engine, encoding: encoding) == "org.example.app/map")
        #expect(
            try open("way", in: area, by: engine, "Walks", encoding: encoding) == "org.example.app/Walks/way")
        #expect(try open("letter", in: area, by: engine, backup: .include) == "letter")
        #expect(try group(in: area).backupPolicy == .exclude)
        for file in ["map", "Walks/way"] {
            #expect(try !hasMarkOfItsOwn(group(in: area).appending(path: file)))
        }
        #expect(
            try Data(contentsOf: group(in: area).appending(path: "CACHEDIR.TAG"))
                .starts(with: "Signature: 8a477f597d28d172789f06886806bc55".utf8))
        #expect(try top(of: area).appending(path: "letter").backupPolicy == .include)
    }

    /// Its own name for the folder does not make it ours.
    @Test(arguments: areas) func aFolderOfTheUsersIsNotMarked(_ area: Area) throws {
        guard try hasMarks else { return }
        let mine = group(in: area).appending(path: "mine")
        try group(in: area).makeFolder()
        try Data("mine".utf8).write(to: mine)
        let engine = try engine()
        let path = try open("map", in: area, by: engine)
        #expect(try group(in: area).backupPolicy == .include)
        #expect(try top(of: area).appending(path: path).backupPolicy == .exclude)
        #expect(!group(in: area).appending(path: "CACHEDIR.TAG").exists)
        #expect(try engine.repair(isDryRun: false).steps.isEmpty)
        #expect(try group(in: area).backupPolicy == .include)
    }

    @Test(arguments: areas) func aFileInItsPlaceIsLeftAndTheItemIsMarked(_ area: Area) throws {
        guard try hasMarks else { return }
        try top(of: area).makeFolder()
        try Data("mine".utf8).write(to: group(in: area))
        let path = try open("map", in: area, by: try engine(), "Walks")
        #expect(path == "Walks/map")
        #expect(try top(of: area).appending(path: path).backupPolicy == .exclude)
        #expect(try Data(contentsOf: group(in: area)) == Data("mine".utf8))
    }

    /// Items that are opened together share what is known of a folder.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func itemsThatAreOpenedTogetherGoWhereEachBelongs(_ encoding: ItemEncoding) throws {
        let engine = try engine()
        let keys: [ItemKey] = ["map", "letter", "way", "diary"]
        for (key, backup) in zip(keys, [BackupPolicy.exclude, .include, .exclude, .include]) {
            let metadata = ItemMetadata(
                key: key,
                destination: .documents(FileName(sanitizing: key.string), in: "Walks", backup: backup))
            try engine.store(prose(3000), as: metadata, encoding: .forced(encoding))
        }
        let paths = try engine.open(keys).map { try #require(try $0.get().value).path.string }
        let expected = [
            "org.example.app/Walks/map", "Walks/letter", "org.example.app/Walks/way", "Walks/diary",
        ]
        #expect(paths == expected.map { container.documents.appending(path: $0).path })
    }

    private static let losses: [@Sendable (ExcludedFolderTests, Area) throws -> Void] = [
        { try $0.group(in: $1).set(.include) },
        { try $0.group(in: $1).appending(path: "CACHEDIR.TAG").remove() },
    ]

    @Test(arguments: areas, 0..<2) func aLostMarkOrTagIsRenewedAtTheNextOpen(_ area: Area, _ loss: Int) throws
    {
        guard try hasMarks else { return }
        let engine = try engine()
        try open("map", in: area, by: engine)
        try Self.losses[loss](self, area)
        _ = try engine.open("map")
        try expectExcluded(area)
        // … of that file or of another.
        try Self.losses[loss](self, area)
        try open("way", in: area, by: engine)
        try expectExcluded(area)
    }

    @Test(arguments: areas, 0..<2) func repairRenewsALostMarkOrTag(_ area: Area, _ loss: Int) throws {
        guard try hasMarks else { return }
        let engine = try engine()
        try open("map", in: area, by: engine)
        try Self.losses[loss](self, area)
        #expect(try engine.repair(isDryRun: true).steps.map(\.action) == [.markRestored])
        #expect(try engine.repair(isDryRun: true).steps.map(\.action) == [.markRestored])
        #expect(try engine.repair(isDryRun: false).steps.map(\.action) == [.markRestored])
        try expectExcluded(area)
        #expect(try engine.repair(isDryRun: false).steps.isEmpty)
    }

    private func expectExcluded(_ area: Area) throws {
        #expect(try group(in: area).backupPolicy == .exclude)
        #expect(group(in: area).appending(path: "CACHEDIR.TAG").exists)
        #expect(try !hasMarkOfItsOwn(group(in: area).appending(path: "map")))
    }

    @Test func aLostMarkOfAFileIsRenewedAtTheNextOpen() throws {
        guard try hasMarks else { return }
        let engine = try container.engine()
        let file = container.documents.appending(path: try open("map", in: .documents, by: engine))
        #expect(try file.backupPolicy == .exclude)
        try file.set(.include)
        _ = try engine.open("map")
        #expect(try file.backupPolicy == .exclude)
        // What its user has changed is the user's.
        try file.set(.include)
        try file.overwrite(Data("mine".utf8))
        _ = try engine.open("map")
        #expect(try file.backupPolicy == .include)
    }

    @Test(arguments: areas) func itsFilesArePurgedLikeAnyOthers(_ area: Area) throws {
        let engine = try engine()
        let path = top(of: area).appending(path: try open("map", in: area, by: engine, "Walks")).path
        #expect(try engine.purgeExcluded(unusedSince: .max, isDryRun: false).purged.count == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func anOpenedFileIsNotReadAgainForAMarkThatItCannotHave() throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let bytes = CallCounter()
        fileSystem.intercept { operation throws(FileSystemError) in
            switch operation.kind {
            case .extendedAttribute, .noDump: throw FileSystemError("fsetxattr", errno: .notSupported)
            case .read where operation.count > 4096: _ = bytes.next()
            default: break
            }
        }
        let content = noise(3 << 20)
        let metadata = ItemMetadata(key: "key", destination: .documents("Film.bin", backup: .exclude))
        try engine.store(content, as: metadata)
        #expect(try engine.open("key").value?.isFirstOpen == true)
        let before = bytes.next()
        for _ in 0..<3 { #expect(try engine.open("key").value?.isFirstOpen == false) }
        #expect(bytes.next() == before + 1)
    }
}
