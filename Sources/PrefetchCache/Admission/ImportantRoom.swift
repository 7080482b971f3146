internal import FileSystem
internal import GRDB
internal import Logging
internal import VolumeCapacity

/// Room for what the user waits for: it is worth more than anything that is cached.
extension Admission {
    /// What the ledger and the catalog need beside the content, generously.
    private static let margin: Int64 = 256 << 10

    /// Sees to it that `needed` bytes that the user asked for can be written to a volume: they must fit
    /// into its important capacity, and cached items make way.
    ///
    /// - Parameter folder: Lies on the volume.
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``.
    func makeImportantRoom(_ needed: Int64, in folder: Directory) throws(CacheError) {
        let model = try watch.configuration.current().capacityModel
        let capacity = model.capacity(of: try watch.volume(of: folder))
        if needed <= capacity.important { return }
        guard try watch.isOnVolumeOfItems(folder) else {
            throw .insufficientSpace(needed: needed, available: capacity.important)
        }
        let shortage: Int64? = try givingUpAllowance(makingRoom: true) { database in
            let capacity = try watch.preview(database).capacity
            // Nobody's place is given up for what cannot be had: the 512 bytes that every item is charged
            // beside its blocks do not come back to the volume.
            let attainable = capacity.important - (try Self.overheadBytes(database))
            guard needed <= attainable else { return attainable }
            let wanted = needed.addingReportingOverflow(capacity.low)
            let available = try makeAvailable(wanted.overflow ? .max : wanted.partialValue, database)
            // Where the system itself promises the space, it makes more room when it is needed. And the
            // journal of this transaction is still to give its part back.
            let isEnough = capacity.isImportantReported || available - capacity.low + Self.margin >= needed
            return isEnough ? nil : available - capacity.low
        }
        evictor.report()
        if let shortage { throw .insufficientSpace(needed: needed, available: max(0, shortage)) }
    }

    private static func overheadBytes(_ database: Database) throws -> Int64 {
        let items = try Int64.fetchOne(database, sql: "SELECT SUM(items) FROM total") ?? 0
        return items * ChargedLength.overhead
    }

    /// Sees to it that an item of `needed` bytes of content can be decoded, at the expense of colder
    /// items, and what is noted of it written. What there is on the volume decides, not the important
    /// capacity: the item is on the volume already, and its cached copy goes when it has been handed
    /// over.
    ///
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``; the item stays cached.
    func makeRoomToOpen(_ needed: Int64, in folder: Directory) throws(CacheError) {
        var available: Int64
        do {
            available = try watch.available(in: folder)
        } catch .fileSystem(let error) {
            // The item is there all the same; should there be no room for its file, writing it will tell.
            return watch.log("The volume cannot be measured.", error)
        }
        if available >= needed + Self.margin { return }
        if try watch.isOnVolumeOfItems(folder) {
            available = try givingUpAllowance(makingRoom: true) { database in
                try makeAvailable(needed + Self.margin, database)
            }
            evictor.report()
        }
        guard available >= needed else { throw .insufficientSpace(needed: needed, available: available) }
    }
}
