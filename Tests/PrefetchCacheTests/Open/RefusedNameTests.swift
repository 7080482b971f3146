import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Names that the file system of a destination refuses.
@Suite struct RefusedNameTests {
    private let container = TemporaryContainer.make()
    private static let documents = SimulatedWorld.areas.documents

    /// Opens an item whose name is refused, and opens it again as another process.
    private func open(_ name: FileName, _ encoding: ItemEncoding, _ naming: SimulatedNaming) throws
        -> [String]
    {
        let world = SimulatedWorld()
        var item = SimulatedItem("key", encoding)
        item.metadata.destination = .documents(name, backup: .include)
        try world.cache(item)
        world.fileSystem.setNaming(naming)
        let opened = try #require(try world.open("key", world.engine()).value)
        #expect(world.fileSystem.disk.content(of: opened.path) == item.content)
        #expect(try world.open("key", world.engine()).value?.path == opened.path)
        let staging = world.fileSystem.disk.names(in: SimulatedWorld.staging)
        #expect(staging.allSatisfy { $0.hasSuffix(".lock") })
        return world.fileSystem.disk.files(in: Self.documents).keys.sorted()
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aNameThatIsTooLongIsShortenedBeforeItsExtension(encoding: ItemEncoding) throws {
        var naming = SimulatedNaming()
        naming.longest = 143
        let name = try FileName(String(repeating: "é", count: 120) + ".mp4")
        let names = try open(name, encoding, naming)
        let found = try #require(names.first)
        #expect(names.count == 1 && found.hasSuffix("é.mp4") && (100...143).contains(found.utf8.count))
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aNameWithCharactersThatFATRefusesGetsOthers(encoding: ItemEncoding) throws {
        var naming = SimulatedNaming()
        naming.refused = SimulatedNaming.refusedByFAT
        #expect(try open("What: is this?.mp4", encoding, naming) == ["What_ is this_.mp4"])
    }

    @Test func aFileThatIsMigratedIsNotLeftForItsName() throws {
        let world = SimulatedWorld()
        let content = Array("a film".utf8)
        let original = SimulatedMigration.folder.appending("What: is this?.mp4")
        try world.write(content, to: original)
        var naming = SimulatedNaming()
        naming.refused = SimulatedNaming.refusedByFAT
        world.fileSystem.setNaming(naming)
        let migration = SimulatedMigration(role: .promoted(to: .documents), originals: [:])
        #expect(try migration.run(world) == [])
        #expect(world.fileSystem.disk.files(in: Self.documents) == ["What_ is this_.mp4": content])
        #expect(world.fileSystem.disk.content(of: original) == nil)
        #expect(try migration.run(world) == [])
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aNameThatCannotBeEncodedBecomesASCII(encoding: ItemEncoding) throws {
        var naming = SimulatedNaming()
        naming.isASCIIOnly = true
        naming.longest = 60
        let name = try FileName("Ünïcode: " + String(repeating: "ö", count: 100) + ".mp4")
        let names = try open(name, encoding, naming)
        let found = try #require(names.first)
        #expect(names.count == 1 && found.hasPrefix("_n_code") && found.hasSuffix(".mp4"))
    }

    @Test(arguments: [ItemEncoding.lz4, .identity])
    func aFolderWithCharactersThatFATRefusesGetsOthers(encoding: ItemEncoding) throws {
        let world = SimulatedWorld()
        var item = SimulatedItem("key", encoding)
        item.metadata.destination = .documents("1.mp4", in: "Podcasts/Daily: News?", backup: .include)
        try world.cache(item)
        var naming = SimulatedNaming()
        naming.refused = SimulatedNaming.refusedByFAT
        world.fileSystem.setNaming(naming)
        let opened = try #require(try world.open("key", world.engine()).value)
        #expect(opened.path == Self.documents.pushing("Podcasts/Daily_ News_/1.mp4"))
        #expect(world.fileSystem.disk.content(of: opened.path) == item.content)
        #expect(try world.open("key", world.engine()).value?.path == opened.path)
    }

    /// The volume of an intent was exchanged since it was entered.
    @Test func anIntentWhoseFolderIsRefusedIsCompletedInAnother() throws {
        let world = SimulatedWorld()
        var item = SimulatedItem("key", .identity)
        item.metadata.destination = .documents("1.mp4", in: "Daily: News", backup: .include)
        try world.cache(item)
        world.fileSystem.fail { $0.newName == "1.mp4" }
        #expect(throws: CacheError.self) { try world.open("key", world.engine()) }
        world.fileSystem.intercept { _ in }
        try world.fileSystem.removeDirectory(Self.documents.pushing("Daily: News"), in: .workingDirectory)
        var naming = SimulatedNaming()
        naming.refused = SimulatedNaming.refusedByFAT
        world.fileSystem.setNaming(naming)
        let opened = try #require(try world.open("key", world.engine()).value)
        #expect(opened.path == Self.documents.pushing("Daily_ News/1.mp4"))
        #expect(world.fileSystem.disk.content(of: opened.path) == item.content)
        #expect(try world.open("key", world.engine()).value?.path == opened.path)
    }

    static let isPublishing: OperationTest = {
        $0.newPath?.contains("/Documents/") == true && $0.newName != CacheLayout.nonexistent.string
    }

    /// Nothing that is tried helps.
    @Test(arguments: [ItemEncoding.lz4, .identity])
    func anItemWhoseNameNothingHelpsIsReadAndGivenBack(encoding: ItemEncoding) throws {
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        try engine.store(prose(9000), "Doc.txt", encoding: .forced(encoding))
        fileSystem.fail(.invalidArgument, where: Self.isPublishing)
        for _ in 1...2 {
            #expect(throws: CacheError.self) { try engine.open("Doc.txt") }
            #expect(try engine.content("Doc.txt") == prose(9000))
            #expect(try engine.contains("Doc.txt"))
        }
        #expect(try engine.forget("Doc.txt"))
        #expect(try engine.ledger.entry(for: "Doc.txt") == nil)
        #expect(try engine.content("Doc.txt") == prose(9000))
        #expect(try container.staged() == [])
        fileSystem.intercept { _ in }
        let opened = try #require(try engine.open("Doc.txt").value)
        #expect(opened.isFirstOpen)
        #expect(try Data(contentsOf: opened.url) == prose(9000))
        try engine.close()
    }

    /// It was never in the cache, and is there when its entry has gone.
    @Test func whatTheUserAskedForIsNotLostWithItsName() throws {
        let fileSystem = InterceptingFileSystem(failing: .invalidArgument) {
            $0.newPath?.contains("/Documents/") ?? false && $0.newName != CacheLayout.nonexistent.string
        }
        let engine = try container.engine(fileSystem: fileSystem)
        let delivery = try engine.beginDelivery("Doc.txt", expectedLength: 9000)
        #expect(throws: CacheError.self) {
            try delivery.commit(appending: noise(9000))
        }
        #expect(try engine.content("Doc.txt") == noise(9000))
        #expect(try engine.forget("Doc.txt"))
        #expect(try engine.ledger.entry(for: "Doc.txt") == nil)
        #expect(try engine.content("Doc.txt") == noise(9000))
        try engine.close()
    }

    /// At every change of the disk in turn.
    @Test func aCrashWhileAnItemIsGivenBackDoesNotLoseIt() throws {
        var kills = 0
        for point in 1... {
            let container = try TemporaryContainer(in: .fastTemporaryFolder)
            let fileSystem = InterceptingFileSystem(failing: .invalidArgument, where: Self.isPublishing)
            let dying = try container.engine(fileSystem: fileSystem)
            try dying.store(noise(9000), "Doc.txt", encoding: .forced(.identity))
            #expect(throws: CacheError.self) { try dying.open("Doc.txt") }
            let count = CallCounter()
            fileSystem.fail(.invalidArgument) { [unowned fileSystem] operation in
                if operation.isChange, count.next() + 1 == point { fileSystem.die() }
                return Self.isPublishing(operation)
            }
            var isKilled = true
            do {
                isKilled = try !dying.forget("Doc.txt")
            } catch {}
            let next = try container.engine(
                fileSystem: InterceptingFileSystem(failing: .invalidArgument, where: Self.isPublishing))
            #expect(try next.content("Doc.txt") == noise(9000), "at \(point)")
            _ = try next.forget("Doc.txt")
            #expect(try next.ledger.entry(for: "Doc.txt") == nil, "at \(point)")
            #expect(try next.content("Doc.txt") == noise(9000), "at \(point)")
            try next.close()
            guard isKilled else { break }
            kills += 1
        }
        #expect(kills > 8)
    }
}
