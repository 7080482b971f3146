internal import GRDB
internal import VolumeCapacity

/// What a file that goes counts towards what is wanted.
enum EvictionMeasure: Sendable {
    /// All that it is charged, also when it was gone already: its row goes, and that is what counts.
    case charge
    /// What the volume gets back: nothing of what a file is charged beside its blocks, and nothing at all
    /// for one that was gone already.
    case blocks

    func bytes(of victim: Victim, _ removal: Removal = .removed) -> Int64 {
        switch self {
        case .charge: victim.chargedLength
        case .blocks: removal == .removed ? victim.chargedLength - ChargedLength.overhead : 0
        }
    }

    /// What all files with a row would count that may be evicted: more than there is where somebody
    /// reads one of them, or one is gone.
    func evictableBytes(_ database: Database) throws -> Int64 {
        let charged = try Admission.evictableBytes(database)
        guard self == .blocks else { return charged }
        let files = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT SUM(items) FROM total WHERE kind >= 0"))
        return charged - (files ?? 0) * ChargedLength.overhead
    }
}
