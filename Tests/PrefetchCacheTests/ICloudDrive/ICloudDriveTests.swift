import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Promotion to iCloud Drive: what holds for Documents holds there, and nothing is touched without
/// coordination.
@Suite struct ICloudDriveTests {
    private let container = TemporaryContainer.make()
    private let watch: CoordinationWatch

    init() throws { watch = CoordinationWatch(root: FilePath(container.iCloudDrive.path)) }

    private func files() throws -> [String] { try container.files(below: container.iCloudDrive) }

    /// ``PromotionTests`` and ``FolderTests`` look at what becomes of the item.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func openingAndLookingIsCoordinated(encoding: ItemEncoding) throws {
        let engine = try container.engine(watch)
        try engine.store(prose(2_000_000), "Doc.txt", to: .iCloudDrive, encoding: .forced(encoding))
        #expect(watch.operations == 0)
        #expect(try engine.items().map(\.destination) == [.iCloudDrive("Doc.txt")])
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.location == AreaPath(area: .iCloudDrive, relative: "Doc.txt"))
        #expect(watch.operations > 0)
        #expect(watch.paths(.write).contains(opened.path))
        #expect(try engine.contains("Doc.txt"))
        #expect(watch.paths(.readMetadata) == [opened.path])
    }

    @Test func deletingIsCoordinated() throws {
        let engine = try container.engine(watch)
        // The second key adopts the file of the first.
        for key in ["one", "two"] as [ItemKey] {
            try engine.store(prose(5000), as: ItemMetadata(key: key, destination: .iCloudDrive("Doc.txt")))
            _ = try engine.open(key)
        }
        let path = try #require(try engine.open("two").value).path
        #expect(try !engine.deletePromotedFile("one"))
        #expect(try files() == ["Doc.txt"])
        #expect(try engine.deletePromotedFile("two"))
        #expect(try files().isEmpty)
        #expect(watch.paths(.delete) == [path])
    }

    /// The file is opened under coordination, and its content is then read as far as the app wants it.
    @Test func readingAnOpenedFileIsAHit() throws {
        let engine = try container.engine(coordinator: watch)
        try engine.store(prose(5000), "key", to: .iCloudDrive)
        let opened = try #require(try engine.open("key").value)
        #expect(try engine.content("key") == prose(5000))
        #expect(watch.paths(.readContent) == [opened.path])
    }

    @Test func whatWasAskedForGoesThereAtOnce() throws {
        let engine = try container.engine(watch)
        let metadata = ItemMetadata("asked for", to: .iCloudDrive, intent: .userRequested)
        let outcome = try engine.store(prose(9000), as: metadata)
        let opened = try #require(outcome.delivered)
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        #expect(try files() == ["asked for"])
        #expect(try engine.open("asked for").value?.isFirstOpen == false)
    }

    /// Wherever an operation fails, the next process completes the promotion, under coordination as well.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func recoveryIsCoordinated(encoding: ItemEncoding) throws {
        for renamed in ["key", "nothing"] {
            let key = try ItemKey("\(renamed)-\(encoding)")
            let failing = InterceptingFileSystem { operation throws(FileSystemError) in
                let isMeant =
                    renamed == "key"
                    ? operation.kind == .rename && operation.newName == key.string
                    : operation.kind == .synchronize && operation.path?.hasSuffix("/Mobile Documents") == true
                if isMeant { throw FileSystemError("fails", errno: .ioError) }
            }
            let broken = try container.engine(fileSystem: failing)
            try broken.store(prose(5000), key, to: .iCloudDrive, encoding: .forced(encoding))
            #expect(throws: CacheError.self) { try broken.open(key) }
            let opened = try #require(try container.engine(watch).open(key).value)
            #expect(try Data(contentsOf: opened.url) == prose(5000))
            #expect(opened.path.lastComponent?.string == key.string)
        }
        #expect(watch.operations > 0)
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aRefusedAccessIsAnErrorOfTheDestinationAndLeavesTheItemCached(encoding: ItemEncoding) throws {
        let engine = try container.engine(watch)
        try engine.store(prose(5000), "key", to: .iCloudDrive, encoding: .forced(encoding))
        watch.refuse(.canceled)
        expectDestinationError(.canceled) { try engine.open("key") }
        #expect(try engine.content("key") == prose(5000))
        watch.refuse(nil)
        #expect(try engine.open("key").value?.isFirstOpen == true)
    }

    @Test func otherAreasAreNotCoordinated() throws {
        let engine = try container.engine(watch)
        for (key, area) in [("a", Area.documents), ("b", .applicationSupport)] {
            try engine.store(prose(5000), ItemKey(key), to: area)
            #expect(try engine.open(ItemKey(key)).value != nil)
        }
        #expect(watch.paths(.write).isEmpty && watch.paths(.readMetadata).isEmpty)
    }
}
