import Foundation
import PrefetchFileSystem
import Testing

@testable import PrefetchCaching

/// Contract 8, for the catalog: its file grows within the budget.
@Suite struct CatalogGrowthTests {
    private let container = TemporaryContainer.make()
    private let engine: Engine

    init() throws {
        engine = try container.engine()
        try engine.configure(.fixed(.mebibytes(4)))
    }

    /// How much more is charged, held and taken by the catalog than may be. It is all written first.
    private func excess() throws -> Int64 {
        let report = try engine.capacity()
        return report.chargedBytes + report.heldBytes + report.catalogBytes - report.ceilingBytes
    }

    private func storeLong(_ number: Int) throws -> StoreOutcome {
        let key = try ItemKey(String(repeating: "k", count: 900) + "\(number)")
        let metadata = ItemMetadata(key, source: String(repeating: "s", count: 900))
        return try engine.store(noise(300, seed: UInt64(number)), as: metadata)
    }

    @Test func manySmallItemsStayWithinTheBudgetWithTheirRows() throws {
        for number in 0..<1100 {
            try engine.store(noise(300, seed: UInt64(number)), ItemKey(number: number))
            if number > 700 || number % 100 == 0 { #expect(try excess() <= 0, "item \(number)") }
        }
    }

    @Test func longKeysStayWithinTheBudgetWithTheirRows() throws {
        for number in 0..<2 {
            try engine.store(noise(1_900_000, seed: UInt64(number)), ItemKey(number: number))
        }
        try engine.flush()
        for number in 0..<60 {
            _ = try storeLong(number)
            #expect(try excess() <= 0, "item \(number)")
        }
    }

    @Test func rowsForWhichNothingCanBeEvictedWait() throws {
        // All that there is is leased, and takes all but what the long rows need.
        for number in 0..<2 {
            try engine.store(noise(1_900_000, seed: UInt64(number)), ItemKey(number: number))
        }
        try engine.maintain()
        var leases = try (0..<2).map { try engine.folders.openItem(ItemKey(number: $0).hash) }
        let ceiling = try engine.capacity().ceilingBytes
        var stored = 0
        for number in 0..<200 {
            let outcome = try storeLong(number)
            if case .refused(let refusal) = outcome {
                guard case .overBudget(let needed, ceiling) = refusal, needed > 4096 else {
                    Issue.record("refused for \(refusal)")
                    break
                }
                break
            }
            stored += 1
            let key = try ItemKey(String(repeating: "k", count: 900) + "\(number)")
            leases.append(try engine.folders.openItem(key.hash))
            #expect(try engine.catalog.inMemory { $0.allowance.bound } + charged() <= ceiling)
            do throws(CacheError) {
                try engine.flush()
            } catch {
                #expect(error == .catalogOverBudget)
                #expect(engine.hasPendingChanges)
            }
            #expect(try container.chargedOnDisk() + catalogLength() <= ceiling, "item \(number)")
        }
        #expect(stored > 0)
        for lease in leases { if let lease { engine.environment.fileSystem.close(lease) } }
        try engine.maintain()
        #expect(!engine.hasPendingChanges)
        #expect(try excess() <= 0)
        #expect(try engine.statistics().chargedBytes == container.chargedOnDisk())
    }

    @Test func aSmallerBudgetLeavesItemsAndNotALongCatalog() throws {
        for number in 0..<500 { _ = try storeLong(number) }
        try engine.maintain()
        let before = try engine.capacity().catalogBytes
        #expect(before > 1 << 20)
        try engine.configure(.fixed(.mebibytes(1)))
        #expect(try excess() <= 0)
        #expect(try engine.capacity().catalogBytes < before / 2)
        #expect(try engine.statistics().items > 50)
        #expect(try storeLong(1000).isStored)
        let charged = try engine.capacity().catalogBytes
        #expect(try catalogLength() == charged)
    }

    @Test func aCatalogThatIsMostlyFreeBecomesShorterBehindTheUsersBacks() throws {
        for number in 0..<500 { _ = try storeLong(number) }
        try engine.flush()
        let before = try catalogLength()
        for number in 0..<400 {
            _ = try engine.remove(ItemKey(String(repeating: "k", count: 900) + "\(number)"))
        }
        try engine.flush()
        #expect(try catalogLength() == before)
        try engine.maintain()
        #expect(try catalogLength() < before / 2)
        #expect(try engine.statistics().items == 100)
    }

    /// What the catalog charges for, read without writing anything.
    private func charged() throws -> Int64 { try engine.catalog.openedFile().read { try $0.itemBytes() } }

    private func catalogLength() throws -> Int64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: container.catalog.path)
        return try #require(attributes[.size] as? Int64 ?? (attributes[.size] as? NSNumber)?.int64Value)
    }
}
