import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchCaching
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import StorageInventory

@Suite final class FactTests: ContainerSuite {
    private func expectFacts(of inventory: FileInventory) {
        let facts = inventory.files.filter { $0.kind == .item }.compactMap(\.facts).sorted { $0.key < $1.key }
        #expect(facts.map(\.key) == ["episode-1", "episode-2"])
        #expect(facts.map(\.source) == ["feed-a", "feed-b"])
        #expect(facts.map(\.isUserRequested) == [false, false])
        #expect(facts.map(\.contentBytes) == facts.map { Int64(content($0.key).count) })
        #expect(facts.allSatisfy { $0.since > 1_700_000_000_000 })
    }

    @Test func theCatalogSaysWhyItemsAreThere() throws {
        let reads = Mutex(0)
        let fileSystem = InterceptingFileSystem(isOutside: true) { operation in
            if operation.kind == .read, operation.name.utf8.count == 32 { reads.withLock { $0 += 1 } }
        }
        expectFacts(of: try container.inventory(fileSystem))
        // Not one item had to be read for that.
        #expect(reads.withLock { $0 } == 0)
    }

    @Test(arguments: ["gone", "garbage", "old"]) func withoutACatalogTheItemsSaySo(_ catalog: String) throws {
        let file = container.url("Library/Caches/PrefetchCache/catalog.sqlite")
        switch catalog {
        case "gone": try FileManager.default.removeItem(at: file)
        case "garbage": try Data(repeating: 7, count: 8192).write(to: file)
        default: try container.setCatalogVersion(4)
        }
        expectFacts(of: try container.inventory())
    }

    @Test func aRowThatDoesNotFitItsFileIsNotBelieved() throws {
        let item = try #require(try container.inventory().files.first { $0.facts?.key == "episode-1" })
        let other = try #require(try container.inventory().files.first { $0.facts?.key == "episode-2" })
        // Another item in the place of this one, as after a copy by hand.
        let path = container.url(try container.inventory().path(of: item).string)
        var content = try Data(contentsOf: path)
        content.insert(0, at: 0)
        try content.write(to: path)
        let inventory = try container.inventory()
        #expect(inventory.files.first { $0.name == item.name }?.facts == nil)
        #expect(inventory.files.first { $0.name == other.name }?.facts != nil)
        #expect(inventory.problems.count == 1)
    }

    @Test func filesThatWereOpenedAreKnownByTheLedger() throws {
        let promoted = try container.inventory().files.filter { $0.kind == .promoted }
        #expect(Set(promoted.compactMap(\.facts?.key)) == ["film", "map"])
        let map = try #require(promoted.first { $0.facts?.key == "map" })
        #expect(!map.isBackupIntended && !map.isBackedUp && !map.isVisible && !map.isPurgeable)
        let film = try #require(promoted.first { $0.facts?.key == "film" })
        #expect(film.isBackupIntended && film.isBackedUp && film.isVisible && !film.isPurgeable)
    }

    @Test func whatIsInTheLedgersLogIsSeenBesideALiveApp() async throws {
        let cache = try await container.cache()
        let item = ItemMetadata(
            key: "fresh", source: "feed-a", destination: .documents("Fresh.txt", backup: .include))
        _ = try await cache.store(content("fresh"), as: item)
        _ = try await cache.open("fresh")
        let log = container.url("Library/Application Support/PrefetchCache/record.sqlite-wal")
        #expect(FileManager.default.fileExists(atPath: log.path))
        let inventory = try container.inventory()
        #expect(inventory.files.contains { $0.kind == .promoted && $0.facts?.key == "fresh" })
        #expect(inventory.problems == [])
        // The app may have brought its log into the file meanwhile; this one stays as it is.
        let path = container.url("Library/Application Support/PrefetchCache/record.sqlite").path
        let ledger = try DatabaseQueue(path: path)
        try await ledger.writeWithoutTransaction { database in
            try database.execute(
                sql: "PRAGMA wal_autocheckpoint = 0; UPDATE promotion SET openedAt = 42 WHERE key = 'film'")
        }
        #expect(try container.inventory().files.contains { $0.facts?.key == "film" && $0.since == 42 })
        // And the app goes on.
        _ = try await cache.store(
            content("next"),
            as: ItemMetadata(key: "next", destination: .documents("Next.txt", backup: .include)))
        #expect(try await cache.open("next") != nil)
        try ledger.close()
        try await cache.close()
    }

    @Test func anUnreadableLedgerIsAProblemAndNoFindingFollowsFromIt() throws {
        try Data(repeating: 7, count: 8192).write(
            to: container.url("Library/Application Support/PrefetchCache/record.sqlite"))
        let inventory = try container.inventory()
        #expect(!inventory.isLedgerKnown)
        #expect(inventory.problems.count == 1)
        #expect(findings(of: inventory) == [])
    }

    @Test func aKeptPartialSaysWhatItWillBe() async throws {
        let cache = try await container.cache()
        let metadata = ItemMetadata(
            key: "broken-off", source: "feed-c", destination: .documents("B.bin", backup: .include))
        guard
            case .writer(let writer) = try await cache.beginStoring(
                metadata, expectedLength: 3 << 20, keepingPartial: true)
        else { throw SampleContainer.Unexpected() }
        _ = try await writer.write(Data(repeating: 1, count: 2 << 20))
        _ = try await writer.suspend()
        try await cache.close()
        let inventory = try container.inventory()
        let partial = try #require(inventory.files.first { $0.kind == .partial })
        let journal = try #require(inventory.files.first { $0.kind == .journal })
        #expect(partial.facts?.key == "broken-off")
        #expect(partial.facts?.source == "feed-c")
        #expect(journal.facts?.key == "broken-off")
        #expect(try container.findings() == [])
    }

    // MARK: By what means a file is left out

    @Test func theMarkOfAnAppleContainerIsSeenElsewhere() throws {
        try container.setAttribute(
            "user.com.apple.metadata:com_apple_backup_excludeItem", [1], of: "Documents/letter.txt")
        let letter = try container.inventory().files.first { $0.name.string == "letter.txt" }
        #expect(letter?.exclusions == .appleAttribute)
    }
}
