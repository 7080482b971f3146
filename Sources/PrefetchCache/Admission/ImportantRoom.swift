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
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``; no item was evicted for it then.
    func makeImportantRoom(_ needed: Int64, in folder: Directory) throws(CacheError) {
        let model = try watch.configuration.current().capacityModel
        let capacity = model.capacity(of: try watch.volume(of: folder))
        if needed <= capacity.important { return }
        // Where the system itself says how much there is, evicting makes it no more.
        guard !capacity.isImportantReported, try watch.isOnVolumeOfItems(folder) else {
            throw .insufficientSpace(needed: needed, available: capacity.important)
        }
        let floor = capacity.low - capacity.state.purgeable
        let wanted = needed.addingReportingOverflow(floor)
        let room = try makeAvailable(allOrNothing: wanted.overflow ? .max : wanted.partialValue)
        guard room.isEnough else {
            throw .insufficientSpace(needed: needed, available: max(0, room.bytes - floor))
        }
    }

    /// Sees to it that an item of `needed` bytes of content can be decoded, at the expense of colder
    /// items, and what is noted of it written. What there is on the volume decides, not the important
    /// capacity: the item is on the volume already, and its cached copy goes when it has been handed
    /// over.
    ///
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``; the item stays cached, and so do the
    ///   others.
    func makeRoomToOpen(_ needed: Int64, in folder: Directory) throws(CacheError) {
        let available: Int64
        do {
            available = try watch.available(in: folder)
        } catch .fileSystem(let error) {
            // The item is there all the same; should there be no room for its file, writing it will tell.
            return watch.log("The volume cannot be measured.", error)
        }
        if available >= needed + Self.margin { return }
        var room = VolumeRoom(isEnough: available >= needed, bytes: available)
        if try watch.isOnVolumeOfItems(folder) {
            room = try makeAvailable(allOrNothing: needed, ifPossible: needed + Self.margin)
        }
        guard room.isEnough, room.bytes >= needed else {
            throw .insufficientSpace(needed: needed, available: room.bytes)
        }
    }

    private struct VolumeRoom {
        var isEnough: Bool
        /// What is free; or, where nothing was evicted because it would not have been enough, what could
        /// be at most.
        var bytes: Int64
    }

    /// Evicts until `wanted` bytes of the volume of the items are free, or nothing when that cannot be.
    ///
    /// - Parameter more: What should be free as well, as far as that is possible.
    private func makeAvailable(
        allOrNothing wanted: Int64, ifPossible more: Int64 = 0
    ) throws(CacheError) -> VolumeRoom {
        defer { evictor.report() }
        let evict = { [self] (database: Database) throws -> VolumeRoom in
            var room = try makeAvailable(allOrNothing: wanted, database)
            if room.isEnough, more > room.bytes { room.bytes = try makeAvailable(more, database).available }
            return room
        }
        do {
            return try givingUpAllowance(evict)
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
        // The first items have to go for the journal of a transaction: not for what cannot be had.
        let available = try watch.available()
        let attainable = try catalog.reading { database in
            available + (try evictor.attainable(wanted - available, in: database))
        }
        guard attainable >= wanted else { return VolumeRoom(isEnough: false, bytes: attainable) }
        return try givingUpAllowance(makingRoom: true, evict)
    }

    private func makeAvailable(allOrNothing wanted: Int64, _ database: Database) throws -> VolumeRoom {
        var available = try watch.available()
        // Once something has gone, the journal of this transaction may lack, which gives its part back.
        var lacking: Int64 = 0
        while available + lacking < wanted {
            let before = available
            let room = RoomForRequest(evictor, choosing: evictor.policy, .blocks, in: database)
            let made = try room.make(wanted - available, step: Self.reliefStep) {
                // As under pressure: where unlinking frees nothing, the rest is kept.
                let last = available
                available = try watch.available()
                return available > last
            }
            if let attainable = made.attainable {
                return VolumeRoom(isEnough: false, bytes: before + attainable)
            }
            available = try watch.available()
            guard available > before else { break }
            lacking = Self.margin
        }
        return VolumeRoom(isEnough: available + lacking >= wanted, bytes: available)
    }
}
