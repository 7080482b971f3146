import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// A cache on a volume with other blocks than those it was charged for: every file takes more there, or less.
@Suite struct BlockSizeTests {
    private let container = TemporaryContainer.make(budget: .mebibytes(2))
    private static let small: Int64 = 4096
    private static let large: Int64 = 64 << 10

    private func engine(_ blockSize: Int64) throws -> Engine {
        let volume = SimulatedVolume(total: 1 << 40, available: 1 << 39, blockSize: blockSize)
        return try container.engine(fileSystem: InterceptingFileSystem(on: volume), probe: nil)
    }

    /// Fifty items of less than a small block, the second half in the reverse order of use.
    private func fill(_ blockSize: Int64) throws -> [ItemKey] {
        let engine = try engine(blockSize)
        for number in 0..<20 { try engine.store(noise(1000), ItemKey(number: number)) }
        for number in (0..<10).reversed() { _ = try engine.content(ItemKey(number: number)) }
        try engine.flush()
        defer { do { try engine.close() } catch { Issue.record(error) } }
        return try engine.items().map(\.key)
    }

    private func expectCharged(_ engine: Engine, blocks blockSize: Int64) throws {
        for item in try engine.items() {
            #expect(item.chargedBytes == ChargedLength(blockSize: blockSize)(storedBytes: item.storedBytes))
        }
        let sum = try engine.items().reduce(0) { $0 + $1.chargedBytes }
        #expect(try engine.statistics().chargedBytes == sum)
    }

    /// Whole blocks, and what the file system keeps beside them.
    @Test(arguments: [
        (0, 4096, 512), (1, 4096, 4608), (4096, 4096, 4608), (4097, 4096, 8704), (1_000_000, 4096, 1_004_032),
        (1_000_000, 512, 1_000_960),
    ])
    func aFileIsChargedInBlocks(storedBytes: Int64, blockSize: Int64, charge: Int64) {
        #expect(ChargedLength(blockSize: blockSize)(storedBytes: storedBytes) == charge)
    }

    @Test func onLargerBlocksEverythingIsChargedAnewAndTheOrderOfUseStays() throws {
        let order = try fill(Self.small)
        let engine = try engine(Self.large)
        try expectCharged(engine, blocks: Self.large)
        #expect(try engine.items().map(\.key) == order)
        #expect(try engine.statistics().hits == 10)
    }

    @Test func onLargerBlocksTheBudgetHolds() throws {
        let order = try fill(Self.small)
        // 20 × 66,048 do not fit into 1 MiB.
        let engine = try engine(Self.large)
        var configuration = try engine.configuration.current()
        configuration.budget = .fixed(.mebibytes(1))
        try engine.configure(configuration)
        let report = try engine.capacity()
        #expect(report.chargedBytes + report.heldBytes + report.catalogBytes <= 1 << 20)
        let kept = try engine.items().map(\.key)
        #expect((10...15).contains(kept.count))
        #expect(kept == order.suffix(kept.count))
        try engine.store(noise(1000), "new")
        #expect(try engine.capacity().chargedBytes <= 1 << 20)
    }

    @Test func aCatalogOfBeforeBlocksWereRecordedIsChargedAnew() throws {
        _ = try fill(Self.small)
        let first = try engine(Self.small)
        try first.catalog.transaction { transaction in
            try transaction.database.execute(sql: "DELETE FROM counter WHERE name = 'blockSize'")
        }
        try first.close()
        try expectCharged(try engine(Self.large), blocks: Self.large)
    }

    @Test func whatIsKeptOfAnInterruptedItemIsChargedAnewWithItsJournal() throws {
        let first = try engine(Self.small)
        let store = try first.begin(
            ItemMetadata("partial"), encoding: .forced(.identity), keepingPartial: true)
        try store.append(noise(100_000 + 1 << 20))
        _ = try store.suspend()
        try first.close()
        let second = try engine(Self.large)
        let partial = try #require(try second.partials().first)
        let charge = ChargedLength(blockSize: Self.large)
        #expect(partial.chargedBytes == charge(storedBytes: partial.storedBytes) + charge(storedBytes: 1))
        #expect(try second.capacity().chargedBytes == partial.chargedBytes)
    }

    /// As through an overlay and beside it.
    @Test func processesThatSeeOtherBlocksDoNotChargeToAndFro() throws {
        _ = try fill(Self.small)
        for blockSize in [Self.large, Self.small, Self.large, Self.small] {
            let engine = try engine(blockSize)
            try expectCharged(engine, blocks: Self.large)
            try engine.close()
        }
    }

    @Test func repairChargesForSmallerBlocks() throws {
        _ = try fill(Self.large)
        let engine = try engine(Self.small)
        let preview = try engine.repair(isDryRun: true)
        try expectCharged(engine, blocks: Self.large)
        let report = try engine.repair(isDryRun: false)
        #expect(report.steps == preview.steps && report.steps.map(\.action) == [.statisticsCorrected])
        try expectCharged(engine, blocks: Self.small)
        #expect(try engine.repair(isDryRun: true).steps.isEmpty)
    }

    @Test func repairChargesAnew() throws {
        _ = try fill(Self.small)
        let engine = try engine(Self.large)
        _ = try engine.repair(isDryRun: false)
        try engine.close()
        try expectCharged(try self.engine(Self.large), blocks: Self.large)
    }
}
