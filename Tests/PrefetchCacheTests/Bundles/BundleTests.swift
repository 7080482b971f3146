import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Items of several files, which are stored, evicted and opened together.
@Suite struct BundleTests {
    static let files: KeyValuePairs<FolderPath, Data> = [
        "index.html": prose(40_000), "empty.txt": Data(), "images/cover.png": noise(1_500_000),
        "images/small/icon.png": noise(900, seed: 2), "zz.txt": prose(70_000, seed: 3),
    ]
    static let content = files.reduce(Data()) { $0 + $1.value }
    static let parts = files.map { BundlePart($0.key, contentBytes: Int64($0.value.count)) }

    static func metadata(_ key: ItemKey = "guide", backup: BackupPolicy = .exclude) -> ItemMetadata {
        ItemMetadata(
            key: key, destination: .documents(FileName(sanitizing: key.string), backup: backup), parts: parts)
    }

    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws { engine = try container.engine() }

    @discardableResult
    private func store(
        _ key: ItemKey = "guide", encoding: EncodingChoice = .automatic, backup: BackupPolicy = .exclude
    ) throws -> StoreOutcome {
        try engine.store(Self.content, as: Self.metadata(key, backup: backup), encoding: encoding)
    }

    private func layOut(_ folder: URL) throws {
        for (path, content) in Self.files { try folder.appending(path: path.string).place(content) }
    }

    private func expectWhole(_ folder: URL) throws {
        #expect(try container.files(below: folder) == Self.files.map(\.key.string).sorted())
        for (path, content) in Self.files {
            #expect(try Data(contentsOf: folder.appending(path: path.string)) == content, "\(path)")
        }
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func itBecomesAFolderWithItsFiles(encoding: ItemEncoding) throws {
        try store(encoding: .forced(encoding))
        let opened = try #require(try engine.open("guide").value)
        #expect(opened.isFirstOpen && opened.parts == Self.parts)
        #expect(opened.contentBytes == Int64(Self.content.count))
        #expect(opened.url.path == container.document("guide").path)
        try expectWhole(opened.url)
        #expect(try Data(contentsOf: opened.url(of: Self.parts[3])) == Self.files[3].value)
        let again = try #require(try container.engine().open("guide").value)
        #expect(!again.isFirstOpen && again.path == opened.path && again.parts == opened.parts)
        #expect(try container.chargedOnDisk() == 0)
        #expect(try container.staged() == [])
    }

    @Test func itsFilesAreReadCachedAndOpened() throws {
        try store()
        for isOpened in [false, true] {
            if isOpened { _ = try engine.open("guide") }
            for (path, content) in Self.files {
                #expect(try engine.read("guide", part: path).value == content, "\(path), \(isOpened)")
            }
            #expect(try engine.read("guide", part: "images").value == .some(nil))
            #expect(try engine.content("guide") == Self.content)
            #expect(try engine.read("guide", 39_000..<1_600_000).value == Self.content[39_000..<1_600_000])
            var streamed = Data()
            _ = try engine.stream("guide", nil) { streamed += Data($0) }
            #expect(streamed == Self.content)
        }
        #expect(try engine.read("nothing", part: "a").value == nil)
    }

    @Test func contentOfAnotherLengthIsNoBundle() throws {
        for length in [Self.content.count - 1, Self.content.count + 1] {
            let content = noise(length)
            #expect(throws: CacheError.self) {
                try engine.store(content, as: Self.metadata())
            }
            var metadata = Self.metadata()
            metadata.intent = .userRequested
            #expect(throws: CacheError.self) {
                try engine.store(content, as: metadata)
            }
        }
        #expect(try engine.open("guide").value == nil)
        #expect(try container.files(below: container.documents) == [])
        #expect(try container.chargedOnDisk() == 0)
    }

    @Test func oneThatWasAskedForGoesStraightToItsFolder() throws {
        let delivered = try deliver("guide")
        #expect(delivered.isFirstOpen && delivered.parts == Self.parts)
        try expectWhole(delivered.url)
        #expect(try container.chargedOnDisk() == 0)
        #expect(try engine.open("guide").value?.path == delivered.path)
        #expect(try container.staged() == [])
    }

    private func deliver(_ key: ItemKey) throws -> PromotedFile {
        var metadata = Self.metadata(key)
        metadata.intent = .userRequested
        guard
            case .begun(let store) = try engine.beginStore(
                metadata, encoding: .automatic, expectedLength: Int64(Self.content.count),
                keepingPartial: true),
            case .delivered(let delivered) = try store.commit(appending: Self.content)
        else { throw CacheError.writerIsFinished }
        return delivered
    }

    @Test func ofOneThatWasAskedForTheChunksAreKept() throws {
        var metadata = Self.metadata()
        metadata.intent = .userRequested
        let store = try engine.begin(
            metadata, expectedLength: Int64(Self.content.count), keepingPartial: true)
        try store.append(Self.content.prefix(1_200_000))
        #expect(try store.suspend()?.contentBytes == 1 << 20)
        let next = try container.engine()
        let partial = try #require(try next.partial(of: "guide", for: .userRequested))
        let rest = try #require(try next.resume(partial, replay: { _ in })?.begun)
        try rest.append(Self.content.dropFirst(1 << 20))
        let delivered = try #require(try rest.commit().delivered)
        try expectWhole(delivered.url)
    }

    @Test func aTakenNameIsNotReplaced() throws {
        let taken = container.document("guide")
        try taken.makeFolder()
        try Data("mine".utf8).write(to: taken.appending(path: "mine.txt"))
        try store()
        let opened = try #require(try engine.open("guide").value)
        #expect(opened.url.lastPathComponent == "guide (2)")
        try expectWhole(opened.url)
        #expect(try container.files(below: taken) == ["mine.txt"])
    }

    @Test func aFolderWithTheSameFilesIsAdopted() throws {
        try layOut(container.document("guide"))
        try store()
        let opened = try #require(try engine.open("guide").value)
        #expect(opened.isAdopted == true && opened.url.lastPathComponent == "guide")
        #expect(try engine.purgeExcluded(unusedSince: .max, isDryRun: false).purged == [])
        try expectWhole(opened.url)
    }

    @Test func itIsPurgedOnlyAsAWhole() throws {
        try store()
        let opened = try #require(try engine.open("guide").value)
        let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
        #expect(report.purged.map(\.fileBytes) == [Int64(Self.content.count)])
        #expect(!opened.url.exists)
        #expect(try engine.ledger.entry(for: opened.key) == nil)
    }

    enum Change: CaseIterable {
        case file, newFile, newFolder, removedFile, sameBytes
    }

    @Test(arguments: Change.allCases)
    func whatItsUserHasChangedStays(change: Change) throws {
        try store()
        let opened = try #require(try engine.open("guide").value)
        let file = opened.url.appending(path: "images/small/icon.png")
        switch change {
        case .file: try Data("mine".utf8).write(to: file)
        case .newFile: try Data("mine".utf8).write(to: opened.url.appending(path: "images/mine.txt"))
        case .newFolder:
            try FileManager.default.createDirectory(
                at: opened.url.appending(path: "mine"), withIntermediateDirectories: false)
        case .removedFile: try file.remove()
        case .sameBytes: try Data(contentsOf: file).write(to: file)
        }
        let before = try container.files(below: opened.url)
        let report = try engine.purgeExcluded(unusedSince: .max, isDryRun: false)
        // Saved again without a change, it is as it was opened.
        #expect(report.purged.count == (change == .sameBytes ? 1 : 0))
        #expect(report.changed.count == (change == .sameBytes ? 0 : 1))
        guard change != .sameBytes else { return }
        #expect(try container.files(below: opened.url) == before)
        #expect(try engine.open("guide").value?.path == opened.path)

        // And if it is to be deleted, what is not of the bundle stays.
        #expect(try engine.deletePromotedFile("guide"))
        let left = opened.url.exists
        #expect(left == [.newFile, .newFolder].contains(change))
        if change == .newFile { #expect(try container.files(below: opened.url) == ["images/mine.txt"]) }
    }

    @Test func aDeletedFolderIsNotRestored() throws {
        try store()
        let opened = try #require(try engine.open("guide").value)
        try opened.url.remove()
        #expect(throws: CacheError.movedOrDeleted(key: "guide", opened.path)) { try engine.open("guide") }
    }

    /// Of equal length, so that only its times and its inode tell.
    @Test func aFolderWhoseFilesChangeIsNotStored() throws {
        let folder = container.root.appending(path: "site", directoryHint: .isDirectory)
        try folder.makeFolder()
        let file = folder.appending(path: "tile.bin")
        try noise(5000).write(to: file)
        let source = try BundleSource(FilePath(folder.path))
        var buffer = [UInt8](repeating: 0, count: 2000)
        #expect(
            try buffer.withMutableBytes { bytes throws(FileSystemError) in try source.read(into: bytes, at: 0)
            })
        try noise(5000, seed: 1).write(to: file, options: .atomic)
        #expect(
            try !buffer.withMutableBytes { bytes throws(FileSystemError) in
                try source.read(into: bytes, at: 2000)
            })
    }

    @Test func linksInTheFolderAreNotFollowed() throws {
        try store()
        let opened = try #require(try engine.open("guide").value)
        let outside = container.root.appending(path: "outside")
        let images = opened.url.appending(path: "images")
        try images.move(to: outside)
        try images.makeLink(to: outside)
        #expect(try engine.purgeExcluded(unusedSince: .max, isDryRun: false).purged == [])
        #expect(try engine.deletePromotedFile("guide"))
        #expect(try container.files(below: outside) == ["cover.png", "small/icon.png"])
    }

    @Test func severalAreOpenedTogether() throws {
        for number in 0..<3 { try store(ItemKey("guide \(number)")) }
        try engine.store(prose(5000), "alone")
        let keys: [ItemKey] = ["guide 0", "alone", "guide 1", "guide 2"]
        let results = try engine.open(keys).map { try #require(try $0.get().value) }
        #expect(results.map(\.key) == keys && results.allSatisfy(\.isFirstOpen))
        for result in results where result.key != "alone" { try expectWhole(result.url) }
    }

    @Test func verificationKnowsItsFiles() throws {
        try store()
        // By the clock that also stamps the files.
        let engine = try container.engine(now: { Int64(Date().timeIntervalSince1970 * 1000) })
        let opened = try #require(try engine.open("guide").value)
        func verdicts() throws -> [String] {
            try engine.verified().findings.map { "\($0.verdict)" }
        }
        #expect(try verdicts() == [])
        try opened.url.appending(path: "zz.txt").overwrite(Data("x".utf8))
        try opened.url.appending(path: "zz.txt").setModified(1)
        #expect(try verdicts().count == 1 && verdicts()[0].hasPrefix("damaged"))
        try opened.url.appending(path: "zz.txt").remove()
        #expect(try verdicts() == ["modified"])
    }

    @Test func theFolderOfTheUsersIsStored() throws {
        let source = container.root.appending(path: "source")
        try layOut(source)
        var metadata = Self.metadata("copy")
        metadata.parts = []
        let path = FilePath(source.path)
        #expect(try engine.store(contentsOfFolder: path, as: metadata, encoding: .automatic).isStored)
        let opened = try #require(try engine.open("copy").value)
        try expectWhole(opened.url)
        try expectWhole(source)

        let hidden = source.appending(path: "images/.hidden")
        try Data().write(to: hidden)
        #expect(throws: CacheError.unsuitableName(hidden.path, .component(.leadingDot))) {
            try engine.store(contentsOfFolder: path, as: Self.metadata("more"), encoding: .automatic)
        }
        try hidden.remove()
        let link = source.appending(path: "link")
        try link.makeLink(to: container.root)
        #expect(throws: CacheError.notARegularFile(link.path)) {
            try engine.store(contentsOfFolder: path, as: Self.metadata("more"), encoding: .automatic)
        }
    }

    /// The names of the earlier ones are tried, and none of their content is compared.
    @Test func theSixtyFirstOfANameCostsWhatTheSecondDid() throws {
        let calls = Mutex<[FileSystemTestSupport.Operation.Kind: Int]>([:])
        let fileSystem = InterceptingFileSystem { operation in
            calls.withLock { $0[operation.kind, default: 0] += 1 }
        }
        let engine = try container.engine(fileSystem: fileSystem)
        let parts = try (0..<3).map { BundlePart(try FolderPath("part-\($0)"), contentBytes: 1000) }
        var costs: [[FileSystemTestSupport.Operation.Kind: Int]] = []
        for number in 1...61 {
            let (key, content) = (try ItemKey("guide-\(number)"), prose(3000, seed: UInt64(number)))
            let metadata = ItemMetadata(key: key, destination: .documents("Guide"), parts: parts)
            calls.withLock { $0 = [:] }
            #expect(try engine.store(content, as: metadata).isStored)
            let opened = try #require(try engine.open(key).value)
            try #require(opened.url.lastPathComponent == (number == 1 ? "Guide" : "Guide (\(number))"))
            costs.append(calls.withLock { $0 })
        }
        for (kind, count) in costs[60] where kind != .attributes && kind != .rename {
            #expect(count <= costs[1][kind, default: 0], "\(kind)")
        }
        let tries = (costs[60][.attributes, default: 0] + costs[60][.rename, default: 0])
        let before = (costs[1][.attributes, default: 0] + costs[1][.rename, default: 0])
        #expect(tries - before <= 59 * 2)
    }

    /// Anything less leaves half a bundle behind.
    @Test func itIsEvictedAsAWhole() throws {
        try store("guide")
        try store("other")
        #expect(try engine.evict(1) > Int64(Self.content.count) / 2)
        #expect(try engine.content("guide") == nil)
        #expect(try engine.content("other") == Self.content)
    }

    /// What the volume cannot take is refused before the first byte: with room for one more copy of the longest file.
    @Test func roomIsNeededForAllFilesAtOnce() throws {
        var metadata = Self.metadata()
        metadata.intent = .userRequested
        metadata.parts = [
            BundlePart("a", contentBytes: 3 << 30), BundlePart("b", contentBytes: 3 << 30),
        ]
        let tight = try container.engine(
            probe: FixedVolumeProbe(VolumeState(total: 64 << 30, available: 8 << 30)))
        let low: Int64 = 500 << 20
        #expect(throws: CacheError.insufficientSpace(needed: 9 << 30, available: 8 << 30 - low)) {
            try tight.beginStore(metadata, encoding: .automatic, expectedLength: 6 << 30)
        }
        #expect(try container.files(below: container.documents) == [])
    }
}
