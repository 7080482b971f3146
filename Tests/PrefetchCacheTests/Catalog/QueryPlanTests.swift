import Foundation
import GRDB
import Synchronization
import Testing

@testable import PrefetchCaching

/// What an eviction asks the catalog is answered by an index, however many items there are.
@Suite struct QueryPlanTests {
    private let container = TemporaryContainer.make()

    /// By kind, a verification and a repair of a large cache went through almost all rows once per folder.
    @Test func aLookAtAFolderOfItemsFindsThemByTheirHash() throws {
        let engine = try container.engine()
        for number in 0..<10 { try engine.store(noise(10_000), ItemKey(number: number)) }
        try engine.flush()

        guard case .usable(let view) = try CatalogView.look(in: engine.folders) else {
            Issue.record("there is a catalog")
            return
        }
        let statements = Mutex<Set<String>>([])
        try view.read { transaction in
            transaction.database.trace { event in
                let statement = event.expandedDescription
                _ = statements.withLock { $0.insert(statement) }
            }
        }
        _ = try view.read { try $0.knownItems(KeyHash.range(inFolder: 7)) }
        let plans = try view.read { transaction in
            transaction.database.trace()
            return try statements.withLock { $0 }.filter { $0.contains("hash BETWEEN") }
                .map { try Self.plan(of: $0, transaction) }
        }
        #expect(plans == ["SEARCH item USING INDEX sqlite_autoindex_item_1 (hash>? AND hash<?)"])
    }

    /// However many files were opened, and however many of them have the same name in other folders.
    @Test func aFirstOpenFindsWhoHasItsPlaceByAnIndex() throws {
        let engine = try container.engine()
        try engine.store(prose(5000), "Doc.txt")
        _ = try engine.open("Doc.txt")
        try engine.close()

        let path = container.record.path
        let plans = try DatabaseQueue(path: path).read { database in
            try [LedgerEntry.placeOfAnother, LedgerEntry.upsert].map { statement in
                try Row.fetchAll(
                    database, sql: "EXPLAIN QUERY PLAN " + statement,
                    arguments: StatementArguments(
                        [Int?](repeating: nil, count: statement.filter { $0 == "?" }.count))
                ).compactMap { $0["detail"] as String? }
            }
        }
        let search = "SEARCH other USING INDEX place (name=? AND folder=?)"
        #expect(plans[0] == [search])
        #expect(plans[1].contains(search) && !plans[1].contains { $0.hasPrefix("SCAN other") })
    }

    @Test(arguments: EvictionPolicyChoice.allCases)
    func anEvictionNeitherSortsNorGoesThroughAllItems(_ policy: EvictionPolicyChoice) throws {
        let engine = try container.engine()
        try engine.configure(.fixed(.mebibytes(8))) { $0.evictionPolicy = policy }
        for number in 0..<10 { try engine.store(noise(10_000), ItemKey(number: number)) }

        let plans = try engine.catalog.transaction { transaction in
            var statements: Set<String> = []
            transaction.database.trace { statements.insert($0.expandedDescription) }
            #expect(try engine.evictor.evict(atLeast: 50_000, from: transaction) >= 50_000)
            transaction.database.trace()
            return try statements.sorted().map { sql in (sql, try Self.plan(of: sql, transaction)) }
        }
        #expect(plans.contains { $0.1.contains("USING INDEX expiry") })
        for (sql, plan) in plans {
            #expect(!plan.contains("TEMP B-TREE"), "\(sql)")
            #expect(!plan.contains("SCAN item"), "\(sql)")
            // By kind it would lead to almost all rows, with every batch.
            guard sql.contains("DELETE FROM item") else { continue }
            let search = plan.split(separator: "\n").filter { $0.hasPrefix("SEARCH item") }
            #expect(search.count == 1 && search[0].contains("(hash=?)"), "\(sql): \(plan)")
        }
        #expect(plans.contains { $0.0.contains("DELETE FROM item") })
    }

    /// By kind the census of a large cache took a minute: the index on it leads to almost all rows, once per folder.
    @Test func aCensusLooksItemsUpByTheirHash() throws {
        let engine = try container.engine()
        for number in 0..<10 { try engine.store(noise(10_000), ItemKey(number: number)) }

        let plans = try engine.catalog.transaction { transaction in
            var statements: Set<String> = []
            transaction.database.trace { statements.insert($0.expandedDescription) }
            #expect(try engine.catalog.reconciler.fill(transaction) == 10)
            transaction.database.trace()
            return try statements.filter { $0.contains("hash BETWEEN") }.map { sql in
                (sql, try Self.plan(of: sql, transaction))
            }
        }
        #expect(plans.count == 256)
        #expect(
            Set(plans.map(\.1)) == ["SEARCH item USING INDEX sqlite_autoindex_item_1 (hash>? AND hash<?)"])
    }

    private static func plan(of sql: String, _ transaction: CatalogTransaction) throws -> String {
        // What a trigger does is reported as a comment.
        guard !sql.hasPrefix("--") else { return "" }
        return try Row.fetchAll(transaction.database, sql: "EXPLAIN QUERY PLAN \(sql)").map { row in
            row["detail"] as String
        }.joined(separator: "\n")
    }
}
