internal import GRDB
internal import VolumeCapacity

/// How a removed file counts towards the bytes wanted.
enum EvictionMeasure: Sendable {
    /// By all that it is charged, even if it was gone already: its row is deleted, which is what counts.
    case charge
    /// By what the volume gains: the charge without its fixed overhead, and nothing for a file that was gone
    /// already.
    case blocks

    func bytes(of victim: Victim, _ removal: Removal = .removed) -> Int64 {
        switch self {
        case .charge: victim.chargedLength
        case .blocks: removal == .removed ? victim.chargedLength - ChargedLength.overhead : 0
        }
    }

    /// The sum over all evictable files with a row. An upper bound: some may be leased or gone.
    func evictableBytes(_ database: Database) throws -> Int64 {
        let charged = try Admission.evictableBytes(database)
        guard self == .blocks else { return charged }
        let files = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT SUM(items) FROM total WHERE kind >= 0"))
        return charged - (files ?? 0) * ChargedLength.overhead
    }
}
