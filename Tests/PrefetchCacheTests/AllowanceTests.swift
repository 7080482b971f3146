import FileSystemTestSupport
import Foundation
import GRDB
import Testing

@testable import PrefetchCache

/// What a process holds of the budget: in memory and in its row, the same sum at every moment.
@Suite struct AllowanceTests {
    private let container: TemporaryContainer
    private let engine: Engine

    init() throws {
        container = try TemporaryContainer()
        engine = try container.engine()
        try engine.configure(CacheConfiguration(budget: .fixed(.mebibytes(4))))
    }

    /// The writer's row, read past the engine, which would write what is pending first.
    private func row() throws -> Int64 {
        let queue = try DatabaseQueue(path: container.catalog.path)
        defer { #expect(throws: Never.self) { try queue.close() } }
        return try queue.read { database in
            try Int64.fetchOne(database, sql: "SELECT SUM(allowance) FROM writer") ?? 0
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func memoryAndRowAgreeWhateverHappens(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for step in 0..<150 {
            let key = try ItemKey(number: Int.random(in: 0..<8, using: &generator))
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<5:
                try engine.store(
                    noise(Int.random(in: 0..<200_000, using: &generator)), key, to: .applicationSupport)
            case 5: _ = try engine.remove(key)
            case 6: try damage(key)
            case 7: _ = try engine.evict(50_000)
            case 8: try engine.flush()
            case 9:
                try FileManager.default.removeItem(at: container.catalog)
                _ = try engine.evict(1)
            case 10:
                try ruinTheCatalog()
                try engine.store(noise(1 << 20, seed: UInt64(step)), key, to: .applicationSupport)
            default:
                try engine.maintain()
                #expect(try row() == 0, "step \(step): something is held for nothing")
            }
            let held = engine.catalog.inMemory { $0.allowance }
            #expect(held.free >= 0 && held.reserved == 0 && held.unsettled >= 0, "step \(step)")
            #expect(try row() == held.free + held.reserved + held.unsettled, "step \(step)")
        }
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test(arguments: [ResultCode.SQLITE_CORRUPT, .SQLITE_FULL])
    func whatATransactionGivesUpIsCountedOnceWhenItIsRunAgain(_ code: ResultCode) throws {
        let begun = try engine.beginStore(
            ItemMetadata("under way"), encoding: .automatic, expectedLength: 1_500_000)
        guard case .begun(let underWay) = begun else {
            Issue.record("refused")
            return
        }
        for number in 0..<20 { try engine.store(noise(20_000), ItemKey(number: number)) }
        #expect(engine.catalog.inMemory { $0.allowance.free } > 0)
        var hasFailed = false
        try engine.admission.givingUpAllowance(makingRoom: true) { _ in
            guard !hasFailed else { return }
            hasFailed = true
            throw DatabaseError(resultCode: code)
        }
        let held = engine.catalog.inMemory { $0.allowance }
        #expect(held.free == 0)
        #expect(held.reserved > 0)
        #expect(try row() == held.reserved + held.unsettled)
        underWay.cancel()
    }

    @Test func whatATransactionGaveUpIsTakenBackWhenItFails() throws {
        for number in 0..<20 { try engine.store(noise(20_000), ItemKey(number: number)) }
        let before = engine.catalog.inMemory { $0.allowance.free }
        #expect(throws: CacheError.closed) {
            try engine.admission.givingUpAllowance { _ in throw CacheError.closed }
        }
        let held = engine.catalog.inMemory { $0.allowance }
        #expect(held.free == before && before > 0)
        #expect(try row() == held.free + held.reserved + held.unsettled)
    }

    /// Keeps the head of the file, so that the damage is found in the middle of a transaction.
    private func ruinTheCatalog() throws {
        let file = try FileHandle(forUpdating: container.catalog)
        let length = try file.seekToEnd()
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0x55, count: Int(length) - 4096))
        try file.close()
    }

    private func damage(_ key: ItemKey) throws {
        let file = container.item(key)
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        var data = try Data(contentsOf: file)
        data[data.count / 2] ^= 1
        try data.write(to: file)
        #expect(try engine.content(key) == nil)
    }
}
