internal import Logging
internal import PrefetchFileSystem
internal import PrefetchVolumeCapacity

/// Room for what the user is waiting for, which takes precedence over anything cached.
extension Admission {
    /// A generous bound on what the ledger and the catalog need in addition to the content, in bytes.
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

    /// Makes sure that an item of `needed` bytes of content can be decoded and recorded, evicting colder items if
    /// necessary. What counts is the available space, not the important capacity: the item is already on the volume,
    /// and its cached copy is removed after the promotion.
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

    /// Whether the volume reports enough room to decode and record an item of `needed` bytes of content.
    func hasRoomToOpen(_ needed: Int64, in folder: Directory) throws(CacheError) -> Bool {
        do {
            return try watch.available(in: folder) >= needed + Self.margin
        } catch .fileSystem(let error) {
            // Not a reason to fail: if there is no room for the file, writing it will fail.
            watch.log("The volume cannot be measured.", error)
            return true
        }
    }

    /// Rounds of eviction for one write, from 256 KiB to 4 MiB each, 8 MiB in total: if that does not help, more would
    /// be wasted.
    private static let attempts = 5

    /// Runs `body`, which writes, and retries it after evicting items when there is no room although the volume may
    /// report some: it reports neither an exhausted quota nor what btrfs reserves temporarily to change a name. Each
    /// round evicts twice as many bytes.
    ///
    /// - Parameter needed: Returns the bytes that are written to the volume of the items; `nil` to evict nothing.
    func retryingAfterEviction<Result>(
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
    func retryingAfterEviction<Result>(
        for needed: Int64 = 0, in folder: Directory, _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        try retryingAfterEviction(
            for: { () throws(CacheError) in try watch.isOnVolumeOfItems(folder) ? needed : nil }, body)
    }

    /// - Returns: Whether that much was evicted; otherwise nothing was.
    private func evict(_ bytes: Int64) throws(CacheError) -> Bool {
        let made = try givingUpAllowance(makingRoom: true) { transaction in
            try RoomForRequest(evictor, in: transaction).make(bytes)
        }
        guard made.attainable == nil else { return false }
        _ = try watch.availableAfterSync()
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
        // The transaction's journal consumes the space of the first items, which must not be evicted in vain.
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
        // After an eviction, the space of this transaction's journal may be lacking; it is released at the end.
        var lacking: Int64 = 0
        while try free.isBelow(wanted - lacking) {
            let before = free.count
            let room = RoomForRequest(evictor, in: transaction)
            var noted: Int64 = 0
            let made = try room.make(wanted - before, step: Self.reliefStep) { freed in
                // As under pressure: once unlinking frees nothing, the rest is kept.
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
