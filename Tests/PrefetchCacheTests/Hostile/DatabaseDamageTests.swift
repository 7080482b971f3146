import FileSystemTestSupport
import Foundation
import GRDB
import Testing

@testable import PrefetchCaching

/// Bits of the databases are flipped. SQLite notices some; of the others no value may end the process, change what
/// is served or touch what was promoted. The catalog is rebuilt, a key whose ledger row is lost may be promoted again.
@Suite struct HostileDatabaseTests {
    enum DatabaseFile: String, CaseIterable, CustomTestStringConvertible {
        case catalog, ledger

        var testDescription: String { rawValue }

        func file(in container: TemporaryContainer) -> URL {
            switch self {
            case .catalog: container.catalog
            case .ledger: container.support.appending(path: CacheLayout.record)
            }
        }
    }

    private let container = TemporaryContainer.make(in: .fastTemporaryFolder)
    private let cached: [ItemKey]
    private let opened: [ItemKey]

    init() throws {
        cached = try (0..<12).map { try ItemKey(number: $0) }
        opened = try (100..<104).map { try ItemKey(number: $0) }
        let engine = try container.engine()
        for key in cached + opened { try engine.store(content(key), key) }
        for key in opened { _ = try engine.open(key) }
        try engine.close()
    }

    private func content(_ key: ItemKey) -> Data { prose(3000, seed: key.hash.low) }

    @Test(arguments: DatabaseFile.allCases)
    func aBitOfADatabaseCostsNoByteAndNoProcess(_ database: DatabaseFile) throws {
        let file = database.file(in: container)
        let image = [UInt8](try Data(contentsOf: file))
        var record = AttackRecord("damage.\(database)-bits", of: "bits flipped")
        var generator = SeededGenerator(seed: TestRun.seed)
        for _ in 0..<TestRun.count(short: 60, long: 10_000) {
            let bit = Int.random(in: 0..<image.count * 8, using: &generator)
            var damaged = image
            damaged[bit / 8] ^= 1 << (bit % 8)
            for side in CacheLayout.databaseSides
            where FileManager.default.fileExists(atPath: file.path + side) {
                try FileManager.default.removeItem(atPath: file.path + side)
            }
            try Data(damaged).write(to: file)
            try use("bit \(bit), seed \(TestRun.seed)", &record)
        }
        record.report()
        #expect(record.isHarmless)
    }

    /// SQLite takes the values as they are: no page is damaged, and `row[index]` of GRDB would end the process.
    @Test(arguments: [
        "UPDATE item SET area = 256", "UPDATE item SET encoding = -1", "UPDATE item SET source = x'FF'",
        "UPDATE item SET storedLength = 'much'", "UPDATE item SET priority = x'00'",
        "UPDATE total SET chargedLength = 'none'", "UPDATE item SET contentLength = 1e300",
    ])
    func aValueThatItsColumnCannotHoldInTheCatalog(_ change: String) throws {
        try execute("PRAGMA ignore_check_constraints = ON; \(change)", in: .catalog)
        try useDamaged(change)
    }

    @Test(arguments: [
        "area = 256", "backup = 300", "contentLength = -1", "contentLength = 'long'",
        "contentLength = 9223372036854775807", "inode = x'00'", "state = 77", "name = x'FF'", "key = 5",
        "stagedName = '../../../../Documents/item-100'", "stagedName = x'2F'", "openedAt = 'then'",
    ])
    func aValueThatItsColumnCannotHoldInTheLedger(_ change: String) throws {
        for state in [1, 2] {
            try execute(
                "PRAGMA ignore_check_constraints = ON; UPDATE promotion SET state = \(state), \(change)",
                in: .ledger)
            try useDamaged(change)
        }
    }

    /// The sum that an eviction aims at does not overflow.
    @Test func aNegativeChargeEndsNoProcess() throws {
        try execute("UPDATE item SET chargedLength = -28160", in: .catalog)
        let engine = try container.engine()
        #expect(try !engine.items().isEmpty)
        attempt { _ = try engine.evict(.max) }
        try engine.close()
    }

    private func execute(_ sql: String, in database: DatabaseFile) throws {
        try DatabaseQueue(path: database.file(in: container).path).write { try $0.execute(sql: sql) }
    }

    private func useDamaged(_ what: String) throws {
        var record = AttackRecord("damage.values", of: "changes")
        try use(what, &record)
        #expect(record.isHarmless)
    }

    /// A process that begins with what is there, and does all that reads a database.
    private func use(_ what: String, _ record: inout AttackRecord) throws {
        record.cases += 1
        let engine: Engine
        do {
            engine = try container.engine()
        } catch {
            Issue.record("\(what): the cache was refused: \(error)")
            return
        }
        for key in cached {
            attempt {
                guard let found = try engine.content(key) else { return }
                #expect(found == content(key), "\(what): \(key)")
                record.note(\.wrongBytes, if: found != content(key))
            }
        }
        for key in opened { attempt { _ = try engine.open(key) } }
        attempt { _ = try engine.items() }
        attempt { _ = try engine.statistics() }
        attempt { _ = try engine.sources() }
        attempt { _ = try engine.evict(1) }
        attempt { try engine.flush() }
        attempt { try engine.close() }
        for key in opened {
            let file = container.documents.appending(path: key.string)
            let isThere = try Data(contentsOf: file) == content(key)
            #expect(isThere, "\(what): \(key)")
            record.note(\.lostPromotions, if: !isThere)
        }
    }

}
