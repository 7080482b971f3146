import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import Synchronization
import SystemPackage
import Testing

@testable import PrefetchCaching

/// Contract 9: losing the catalog costs recency, nothing else.
@Suite struct CatalogTests {
    private let container = TemporaryContainer.make()

    init() throws {
        let engine = try container.engine()
        for number in 0..<20 {
            try engine.store(
                prose(1000 * number, seed: 3), ItemKey(number: number), in: "Shelf/Row",
                of: .applicationSupport)
        }
        try engine.close()
    }

    /// Everything that `list` answers except recency.
    private func listing(_ engine: Engine) throws -> [String] {
        try engine.items().map {
            "\($0.key) \($0.source) \($0.contentBytes) \($0.storedBytes) \($0.chargedBytes) \($0.encoding) \(String(describing: $0.destination))"
        }.sorted()
    }

    @Test(
        "The catalog is made anew when it is missing or of no use",
        arguments: ["missing", "alone", "garbage", "empty", "newer", "foreign", "stale journal"])
    func rebuild(after damage: String) throws {
        let before = try listing(container.engine())
        let catalog = container.catalog
        switch damage {
        case "missing":
            for ending in ["", "-journal", "-wal", "-shm"] {
                let file = URL(filePath: catalog.path + ending)
                if file.exists { try file.remove() }
            }
        case "alone": try catalog.remove()
        case "garbage": try noise(20_000).write(to: catalog)
        case "empty": try Data().write(to: catalog)
        case "newer": try catalog.execute(sql: "PRAGMA user_version = 99")
        case "foreign":
            try catalog.remove()
            try catalog.execute(sql: "CREATE TABLE item (x)")
        default: try noise(5_000).write(to: URL(filePath: catalog.path + "-journal"))
        }
        let engine = try container.engine()
        #expect(try listing(engine) == before)
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
        for number in 0..<20 { #expect(try engine.content(ItemKey(number: number)) != nil) }
    }

    /// A process may have died in the middle of a transaction, which only its journal could undo.
    @Test(arguments: [nil, "removed", "emptied"])
    func aCatalogWhoseJournalIsGoneIsTrustedOnlyIfNobodyDied(_ journal: String?) throws {
        func lose() throws {
            let file = URL(filePath: container.catalog.path + "-journal")
            switch journal {
            case "removed": try file.remove()
            case "emptied": try Data().write(to: file, options: [])
            default: break
            }
        }
        let fileSystem = InterceptingFileSystem()
        let dying = try container.engine(fileSystem: fileSystem)
        for _ in 0..<3 { _ = try dying.content(ItemKey(number: 0)) }
        try dying.flush()
        let stores = try dying.statistics().stores
        #expect(stores > 0)
        fileSystem.die()
        try lose()
        let engine = try container.engine()
        #expect(try engine.items().count == 20)
        // The history is not in the catalog.
        #expect(try engine.statistics().stores == stores)
        let rebuilds = journal == nil ? 0 : 1
        #expect(try self.rebuilds(engine) == rebuilds)
        try engine.store(noise(100), "counted")
        try engine.close()
        try lose()
        let next = try container.engine()
        #expect(try next.statistics().stores == stores + 1)
        #expect(try self.rebuilds(next) == rebuilds)
    }

    /// How often the catalog was made anew, by the journal of the cache.
    private func rebuilds(_ engine: Engine) throws -> Int {
        try engine.journal(after: nil).entries.count { $0.kind == .rebuilt }
    }

    @Test func aCatalogThatIsDeletedUnderAnOpenHandleIsNoticed() throws {
        let engine = try container.engine()
        #expect(try engine.items().count == 20)
        try container.catalog.remove()
        try engine.store(noise(500), "late")
        #expect(try engine.items().count == 21)
        #expect(container.catalog.exists)
        try engine.close()
        #expect(try container.engine().statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test func aUselessFileInThePlaceOfAnOpenOneIsMadeAnew() throws {
        let engine = try container.engine()
        #expect(try engine.items().count == 20)
        try noise(20_000).write(to: container.catalog, options: .atomic)
        #expect(try engine.items().count == 20)
        _ = try engine.content(ItemKey(number: 0))
        try engine.flush()
        #expect(try container.engine().items().last?.key.string == "item-0")
    }

    @Test func aCatalogThatAnotherProcessHasMadeAnewIsTakenOver() throws {
        let first = try container.engine()
        #expect(try first.items().count == 20)
        try container.catalog.remove()
        let second = try container.engine()
        _ = try second.items()
        _ = try second.content(ItemKey(number: 0))
        try second.flush()
        // Made anew once more, it would have forgotten this use.
        #expect(try first.items().last?.key.string == "item-0")
    }

    @Test func aRemovalThatIsWrittenLateSparesWhatAnotherProcessStoredSince() throws {
        let first = try container.engine()
        let key = try ItemKey(number: 5)
        #expect(try first.remove(key))
        let second = try container.engine()
        try second.store(noise(7000), key)
        try second.flush()
        try first.flush()
        #expect(try second.items().contains { $0.key == key })
        #expect(try second.statistics().chargedBytes == container.chargedOnDisk())
    }

    /// A catalog that a power cut may have torn is not trusted; one that was closed in order is.
    @Test(arguments: [("boot-1", false, true), ("boot-2", false, false), ("boot-2", true, true)])
    func recencyIsKeptWhereTheCatalogIsSound(boot: String, isClosed: Bool, isKept: Bool) throws {
        let first = try container.engine(boot: "boot-1")
        _ = try first.content(ItemKey(number: 0))
        try isClosed ? first.close() : first.flush()
        let items = try container.engine(boot: boot).items()
        #expect(items.last?.key.string == (isKept ? "item-0" : "item-19") && items.count == 20)
    }

    @Test func nothingOfATornCatalogIsKeptButWhatIsMadeFromTheItems() throws {
        let first = try container.engine(boot: "boot-1")
        _ = try first.content(ItemKey(number: 0))
        try first.flush()
        try container.catalog.execute(
            sql: """
                UPDATE total SET chargedLength = chargedLength - 1000000, items = items + 1;
                INSERT OR REPLACE INTO volume VALUES (1, 'critical');
                """)
        let second = try container.engine(boot: "boot-2")
        let statistics = try second.statistics()
        #expect(statistics.items == 20)
        #expect(statistics.chargedBytes == (try container.chargedOnDisk()))
        #expect(statistics.hits == 1 && statistics.stores == 20)
        #expect(statistics.pressure == .normal)
    }

    @Test func processesOfAMachineThatDoesNotTellItsBootTrustEachOther() throws {
        let first = try container.engine(boot: "")
        _ = try first.content(ItemKey(number: 0))
        try first.flush()
        let file = try first.catalog.openedFile().identity
        let second = try container.engine(boot: "")
        #expect(try second.items().last?.key.string == "item-0")
        _ = try second.content(ItemKey(number: 1))
        try second.flush()
        #expect(try first.catalog.openedFile().identity == file)
        #expect(try first.items().last?.key.string == "item-1")
    }

    @Test(
        "An item that cannot be read does not keep the others from being found",
        arguments: [
            (FileSystemTestSupport.Operation.Kind.open, Errno.permissionDenied), (.open, .ioError),
            (.read, .ioError),
        ])
    func anItemThatCannotBeRead(call: FileSystemTestSupport.Operation.Kind, errno: Errno) throws {
        try container.catalog.remove()
        let fileSystem = InterceptingFileSystem()
        let hash = try ItemKey(number: 7).hash
        fileSystem.fail(errno) { $0.kind == call && $0.name.hasSuffix(hash.hexadecimal) }
        let engine = try container.engine(fileSystem: fileSystem)
        #expect(try engine.items().count == 19)
        #expect(try engine.statistics().quarantinedItems == 1)
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
        fileSystem.fail(errno) {
            errno == .permissionDenied && $0.kind == .open && $0.name.hasSuffix(hash.inQuarantine.hexadecimal)
        }
        _ = try engine.evict(.max)
        #expect(try container.chargedOnDisk() == 0)
    }

    @Test func aProcessWithoutDescriptorsSetsNothingAside() throws {
        try container.catalog.remove()
        let fileSystem = InterceptingFileSystem()
        let engine = try container.engine(fileSystem: fileSystem)
        let name = try ItemKey(number: 7).hash.hexadecimal
        fileSystem.fail(.tooManyOpenFiles) { $0.kind == .open && $0.name.hasSuffix(name) }
        #expect(throws: CacheError.self) { try engine.items() }
        fileSystem.intercept { _ in }
        #expect(try engine.items().count == 20)
    }

    /// The boots that the file bears the mark of, read past any engine.
    private func marks() throws -> [String] {
        let queue = try DatabaseQueue(path: container.catalog.path)
        defer { #expect(throws: Never.self) { try queue.close() } }
        return try queue.read { try CatalogTransaction($0).marks() }
    }

    @Test func whoOnlyListsWhatHadToBeMadeAnewLeavesTheMark() throws {
        let first = try container.engine(boot: "boot-1")
        _ = try first.content(ItemKey(number: 0))
        try first.flush()
        let second = try container.engine(boot: "boot-2")
        #expect(try second.items().count == 20)
        #expect(try marks() == ["boot-2"])
        try second.close()
        #expect(try marks().isEmpty)
    }

    @Test func whoOnlyListsLeavesNoMark() throws {
        let engine = try container.engine()
        #expect(try engine.items().count == 20)
        #expect(try marks().isEmpty)
        try engine.close()
        #expect(try marks().isEmpty)
    }

    @Test func whoFindsItemsOfADeadProcessLeavesTheMark() throws {
        do {
            let dying = try container.engine()
            try dying.store(noise(3000), "late")
            let closing = try container.engine()
            _ = try closing.content(ItemKey(number: 0))
            try closing.close()
        }
        #expect(try marks().isEmpty)
        let engine = try container.engine()
        #expect(try engine.items().count == 21)
        #expect(try marks() == ["boot-1"])
    }

    @Test func aMarkThatIsTakenOutMeanwhileIsEnteredAgain() throws {
        let (engine, other) = (try container.engine(), try container.engine())
        for engine in [engine, other] {
            _ = try engine.content(ItemKey(number: 0))
            try engine.flush()
        }
        _ = try engine.content(ItemKey(number: 1))
        let hasClosed = Atomic<Bool>(false)
        try engine.catalog.openedFile().queue.writeWithoutTransaction { database in
            database.trace { event in
                // The last moment at which nobody is kept out.
                guard "\(event)".hasPrefix("BEGIN IMMEDIATE"),
                    !hasClosed.exchange(true, ordering: .relaxed)
                else { return }
                do { try other.close() } catch { Issue.record(error) }
            }
        }
        try engine.flush()
        let hasHappened = hasClosed.load(ordering: .relaxed)
        #expect(hasHappened)
        #expect(try marks() == ["boot-1"])
    }

    @Test func thePartialsOfAProcessThatDiedAreRemoved() throws {
        let incoming = container.incoming
        try noise(5000).write(to: incoming.appending(path: "0123456789abcdef-7"))
        try Data().write(to: incoming.appending(path: "0123456789abcdef.lock"))
        try noise(10).write(to: incoming.appending(path: "not-ours"))
        let alive = try container.engine()
        let store = try alive.begin(ItemMetadata("under way"))
        _ = try container.engine()
        let left = try container.files(below: incoming)
        #expect(!left.contains { $0.hasPrefix("0123456789abcdef") })
        #expect(left.contains("not-ours"))
        #expect(left.contains { $0.hasPrefix(alive.environment.session + "-") })
        try store.cancel()
    }
}
