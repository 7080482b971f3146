internal import GRDB
internal import ItemFormat

/// Evicts the least recently used item.
struct LeastRecentlyUsed: EvictionPolicy {
    func noteUse(of hash: KeyHash, _ sequence: inout Int64, in database: Database) throws {
        sequence += 1
        try database.cachedStatement(sql: "UPDATE item SET lastUse = ? WHERE hash = ?").execute(
            arguments: [sequence, hash.data])
    }

    func victims(atMost limit: Int, passingOver passedOver: Set<KeyHash>, in database: Database) throws
        -> [Victim]
    {
        try Victim.inOrder(atMost: limit, passingOver: passedOver, in: database)
    }
}
