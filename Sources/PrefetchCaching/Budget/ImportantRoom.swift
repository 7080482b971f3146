internal import Logging
internal import PrefetchFileSystem
internal import PrefetchVolumeCapacity

/// Room for what the user waits for, which is worth more than anything that is cached.
extension Admission {
    /// A generous bound on what the ledger and the catalog need beside the content, in bytes.
    static let margin: Int64 = 256 << 10

    /// Makes sure that `needed` bytes that the user asked for can be written to a volume. They must fit into
    /// its important capacity; cached items are evicted for them.
    ///
    /// - Parameter folder: A folder on the volume.
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``; no item was evicted then.
    func makeImportantRoom(_ needed: Int64, in folder: Directory) throws(CacheError) {
        let model = try watch.configuration.current().capacityModel
        let capacity = model.capacity(of: try watch.volume(of: folder))
        if needed <= capacity.important { return }
        // Where the system itself reports the capacity, eviction does not increase it.
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

    /// Makes sure that an item of `needed` bytes of content can be decoded and recorded, evicting colder
    /// items if necessary. What counts is the available space, not the important capacity: the item is on the
    /// volume already, and its cached copy is removed after it has been handed over.
    ///
    /// - Throws: ``CacheError/insufficientSpace(needed:available:)``; all items stay cached then.
    func makeRoomToOpen(_ needed: Int64, in folder: Directory) throws(CacheError) {
        if try hasRoomToOpen(needed, in: folder) { return }
        let available = try watch.available(in: folder)
        var room = VolumeRoom(isEnough: available >= needed, bytes: available)
        if try watch.isOnVolumeOfItems(folder) {
            room = try makeAvailable(allOrNothing: needed, ifPossible: needed + Self.margin)
        }
        guard room.isEnough, room.bytes >= needed else {
            throw .insufficientSpace(needed: needed, available: room.bytes)
        }
    }

    /// Whether the volume shows so much room that an item of `needed` bytes of content can be decoded and recorded.
    func hasRoomToOpen(_ needed: Int64, in folder: Directory) throws(CacheError) -> Bool {
        do {
            return try watch.available(in: folder) >= needed + Self.margin
        } catch .fileSystem(let error) {
            // The item exists all the same. If there is no room for its file, writing it will fail.
            watch.log("The volume cannot be measured.", error)
            return true
        }
    }

    /// How often items make way for one write. From 256 KiB to 4 MiB, that is 8 MiB in all: if they do not help,
    /// more are not lost in vain.
    private static let attempts = 5

    /// Runs `body`, which writes, and again after items have made way when there is no room although the volume may
    /// show some: it does not show a quota that is used up, nor how much btrfs wants to have free for a moment before
    /// it changes a name. Each time twice as many bytes make way.
    ///
    /// - Parameter needed: Returns the bytes that are written to the volume of the items; `nil` if nothing should make
    ///   way.
    func makingWay<Result>(
        for needed: () throws(CacheError) -> Int64?, _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        for attempt in 0..<Self.attempts {
            do {
                return try body()
            } catch {
                guard error.isOutOfSpace, let needed = try needed(),
                    try evict((attempt == 0 ? needed : 0) + Self.margin << attempt)
                else { throw error }
            }
        }
        return try body()
    }

    /// - Parameter folder: The folder that is written to.
    func makingWay<Result>(
        for needed: Int64 = 0, in folder: Directory, _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        try makingWay(
            for: { () throws(CacheError) in try watch.isOnVolumeOfItems(folder) ? needed : nil }, body)
    }

    /// - Returns: Whether so much was evicted. If not, nothing was.
    private func evict(_ bytes: Int64) throws(CacheError) -> Bool {
        let made = try givingUpAllowance(makingRoom: true) { transaction in
            try RoomForRequest(evictor, choosing: evictor.policy, .blocks, in: transaction).make(bytes)
        }
        guard made.attainable == nil else { return false }
        _ = try watch.settledAvailable()
        return true
    }

    private struct VolumeRoom {
        var isEnough: Bool
        /// The bytes that are free or, if nothing was evicted because it would not have sufficed, the most
        /// that could be.
        var bytes: Int64
    }

    /// Evicts until `wanted` bytes are free on the volume of the items, or evicts nothing if that is
    /// impossible.
    ///
    /// - Parameter more: The bytes that should be free if possible.
    private func makeAvailable(
        allOrNothing wanted: Int64, ifPossible more: Int64 = 0
    ) throws(CacheError) -> VolumeRoom {
        let evict = { [self] (transaction: CatalogTransaction) throws -> VolumeRoom in
            var free = try FreeBytes(watch)
            return try watch.noting(transaction, from: free.count) {
                var room = try makeAvailable(allOrNothing: wanted, &free, transaction)
                if room.isEnough {
                    _ = try makeAvailable(more, &free, transaction)
                    room.bytes = free.count
                }
                return room
            }
        }
        do {
            return try givingUpAllowance(evict)
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
        // The journal of a transaction needs the space of the first items, which must not be evicted in vain.
        let available = try watch.available()
        let attainable = try catalog.reading { transaction in
            available + (try evictor.attainable(wanted - available, in: transaction))
        }
        guard attainable >= wanted else { return VolumeRoom(isEnough: false, bytes: attainable) }
        return try givingUpAllowance(makingRoom: true, evict)
    }

    private func makeAvailable(
        allOrNothing wanted: Int64, _ free: inout FreeBytes, _ transaction: CatalogTransaction
    ) throws -> VolumeRoom {
        // After an eviction, the space of this transaction's journal may be missing; it is released at the
        // end.
        var lacking: Int64 = 0
        while try free.isBelow(wanted - lacking) {
            let before = free.count
            let room = RoomForRequest(evictor, choosing: evictor.policy, .blocks, in: transaction)
            var noted: Int64 = 0
            let made = try room.make(wanted - before, step: Self.reliefStep) { freed in
                // As under pressure: if unlinking frees nothing, the rest is kept.
                let last = free.count
                try free.note(freed - noted)
                noted = freed
                return free.count > last
            }
            if let attainable = made.attainable {
                // What was removed before may not be free yet.
                let shown = max(before, free.count)
                try free.synchronize()
                guard free.count > shown else {
                    return VolumeRoom(isEnough: false, bytes: before + attainable)
                }
                continue
            }
            try free.note(made.freed - noted)
            guard free.count > before else { break }
            lacking = Self.margin
        }
        return VolumeRoom(isEnough: free.count + lacking >= wanted, bytes: free.count)
    }
}
