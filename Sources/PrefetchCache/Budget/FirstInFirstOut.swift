internal import GRDB
internal import ItemFormat

/// Evicts the item that was stored first.
struct FirstInFirstOut: EvictionPolicy {
    func noteUse(of hash: KeyHash, _ sequence: inout Int64, in database: Database) {}

    func victims(atMost limit: Int, passingOver passedOver: Set<KeyHash>, in database: Database) throws
        -> [Victim]
    {
        try Victim.inOrder(atMost: limit, passingOver: passedOver, in: database)
    }
}
