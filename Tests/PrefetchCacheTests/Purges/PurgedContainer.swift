import FileSystemTestSupport
import Foundation
import GRDB
import Testing

@testable import PrefetchCaching

/// A container with something of every kind in it, of which the system takes parts, and what must be true afterwards.
struct PurgedContainer {
    private static let items = 12
    private static let promoted = ["text", "noise"]

    let container: TemporaryContainer
    /// Of every key that was ever stored and is not known to be lost, and of what was handed over.
    private var contents: [ItemKey: Data] = [:]
    private var stores = 0
    private var handedOver: [URL: Data] = [:]
    private let sentinels: Sentinels
    /// Answers that were wrong, and files that were handed over and are not what they were.
    private(set) var record: AttackRecord

    init(_ attack: String) throws {
        container = try TemporaryContainer()
        record = AttackRecord(attack, of: "containers that were purged", cases: 1)
        // Beside Caches and tmp, nothing is taken: neither by the system nor by us.
        sentinels = try Sentinels(in: container, named: Self.promoted)
        let engine = try container.engine()
        for number in 0..<Self.items { try store(ItemKey(number: number), in: engine) }
        for name in Self.promoted { try promote(ItemKey(name), in: engine) }
        try engine.keep(noise(3 << 20), "partial")
        try damage("item-\(Self.items - 1)", in: engine)
        let temporary = container.root.appending(path: "tmp", directoryHint: .isDirectory)
        try temporary.makeFolder()
        try noise(100).write(to: temporary.appending(path: "file"))
        try engine.close()
    }

    /// Half of the items compress.
    mutating func store(_ key: ItemKey, in engine: Engine) throws {
        stores += 1
        let seed = UInt64(stores)
        let content = stores.isMultiple(of: 2) ? noise(9000, seed: seed) : prose(9000, seed: seed)
        #expect(try engine.store(content, key).isStored)
        contents[key] = content
    }

    private mutating func promote(_ key: ItemKey, in engine: Engine) throws {
        let content = key == "text" ? prose(70_000) : noise(70_000)
        #expect(try engine.store(content, key).isStored)
        handedOver[try #require(try engine.open(key).value).url] = content
    }

    /// A damaged item goes to the quarantine when it is read.
    private mutating func damage(_ name: String, in engine: Engine) throws {
        let key = try ItemKey(name)
        try container.item(key).overwrite(Data(repeating: 0x55, count: 100))
        #expect(try engine.content(key) == nil)
        contents[key] = nil
    }

    /// Whatever the system took: the right bytes of all that it left, a cache that goes on, and books that agree with the
    /// disk.
    ///
    /// - Parameters:
    ///   - others: What else works on the cache.
    ///   - parts: What the system has taken since the last time.
    mutating func judge(
        _ engine: Engine, beside others: Engine..., after parts: [PurgedPart], comment: Comment
    ) throws {
        let inOneFolder = Dictionary(grouping: contents.keys) {
            container.item($0).deletingLastPathComponent().lastPathComponent
        }.values.map(\.count).max()
        let most = parts.reduce(0) {
            $0 + $1.lostItems(of: contents.count, inOneFolder: inOneFolder ?? 0)
        }
        var lost: [ItemKey] = []
        for (key, content) in contents {
            if let found = try engine.content(key) {
                record.note(\.wrongBytes, if: !isSame(found, content))
            } else {
                lost.append(key)
            }
        }
        #expect(lost.count <= most, "\(lost) were not taken, \(comment)")
        for key in lost { contents[key] = nil }
        let fresh = try ItemKey("fresh-\(stores)")
        try store(fresh, in: engine)
        #expect(try engine.content(fresh) == contents[fresh], comment)
        try promote(ItemKey("opened-\(stores)"), in: engine)
        for (file, content) in handedOver {
            let found = FileManager.default.contents(atPath: file.path)
            record.note(\.lostPromotions, if: found.map { isSame($0, content) } != true)
        }
        for name in Self.promoted { #expect(try engine.open(ItemKey(name)).value != nil, comment) }

        for engine in [engine] + others { try engine.maintain() }
        let report = try engine.repair(isDryRun: false)
        #expect(report.failures.isEmpty, comment)
        for engine in [engine] + others { try engine.maintain() }
        try container.expectBooksThatAgreeWithTheDisk(engine, comment)
        record.note(\.foreignTouched, try sentinels.touched().count)
        #expect(record.isHarmless, comment)
    }
}

extension TemporaryContainer {
    /// Statistics equal to a walk, databases without a fault, and nothing on its way.
    func expectBooksThatAgreeWithTheDisk(_ engine: Engine, _ comment: Comment) throws {
        let statistics = try engine.statistics()
        let items = caches.appending(path: "items")
        let lengths = try files(below: items).map { file in
            Int64(try items.appending(path: file).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
        }
        #expect(statistics.items == lengths.count, comment)
        #expect(statistics.storedBytes == lengths.reduce(0, +), comment)
        #expect(statistics.chargedBytes == (try chargedOnDisk()), comment)
        #expect(try engine.items().count == lengths.count, comment)
        #expect(try engine.capacity().heldBytes == 0, comment)
        for database in [catalog, support.appending(path: "record.sqlite")] {
            #expect(try Self.faults(of: database) == ["ok"], comment)
        }
        #expect(
            try files(below: support.appending(path: "staging")).allSatisfy { $0.hasSuffix(".lock") }, comment
        )
    }

    private static func faults(of database: URL) throws -> [String] {
        let queue = try DatabaseQueue(path: database.path)
        let faults = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        try queue.close()
        return faults
    }
}
