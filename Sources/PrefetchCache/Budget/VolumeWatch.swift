internal import FileSystem
internal import GRDB
internal import Logging
internal import Synchronization
internal import SystemPackage
internal import VolumeCapacity

/// Measures the volume, at limited intervals, and derives what that means for the cache.
///
/// A budget shrinks at once and grows with hysteresis, and so do the levels of pressure. The last values are
/// kept in the catalog, so that all processes agree on them.
final class VolumeWatch: Sendable {
    /// How long a measurement is valid.
    static let interval = Duration.seconds(1)

    /// What can be determined without the catalog.
    struct Glance: Sendable {
        let configuration: CacheConfiguration
        let pressure: Pressure
    }

    private struct Memory: Sendable {
        var glance: Glance?
        var glancedAt = Duration.zero
        var standing: Standing?
        var sampledAt = Duration.zero
    }

    let environment: CacheEnvironment
    let configuration: ConfigurationFile
    private let folders: CacheFolders
    private let memory = Mutex(Memory())

    init(environment: CacheEnvironment, folders: CacheFolders, configuration: ConfigurationFile) {
        self.environment = environment
        self.folders = folders
        self.configuration = configuration
    }

    /// The present state of the items' volume, without the space that is ours.
    func volume() throws(CacheError) -> VolumeState { try volume(of: folders.current.items) }

    func volume(of folder: Directory) throws(CacheError) -> VolumeState {
        try onFiles { () throws(FileSystemError) in try environment.probe.state(of: folder.descriptor) }
    }

    /// The bytes that can still be written to the volume of a folder.
    func available(in folder: Directory) throws(CacheError) -> Int64 {
        try onFiles { () throws(FileSystemError) in try environment.probe.available(of: folder.descriptor) }
    }

    func available() throws(CacheError) -> Int64 { try available(in: folders.current.items) }

    /// The free bytes, with the space of all files that were removed until now.
    func settledAvailable() throws(CacheError) -> Int64 {
        do {
            try environment.fileSystem.synchronizeVolume(of: folders.current.items.descriptor)
        } catch {
            // It is about files of others. What the volume shows counts.
            log("The volume cannot be synchronised.", error)
        }
        return try available()
    }

    /// Whether evicting items makes room on the volume of a folder.
    func isOnVolumeOfItems(_ folder: Directory) throws(CacheError) -> Bool {
        try onFiles { () throws(FileSystemError) in
            let here = try environment.fileSystem.attributes(of: folder.descriptor)
            let there = try environment.fileSystem.attributes(of: folders.current.items.descriptor)
            return here.identity.device == there.identity.device
        }
    }

    /// Returns the level of pressure, at most ``interval`` old.
    func glance() throws(CacheError) -> Glance {
        let now = environment.uptime()
        let (last, known) = memory.withLock { memory in
            (memory.glance, now - memory.glancedAt < Self.interval ? memory.glance : nil)
        }
        if let known { return known }
        let configuration = try configuration.current()
        let pressure = configuration.capacityModel.pressure(
            of: try volume(), after: last?.pressure ?? .normal)
        let glance = Glance(configuration: configuration, pressure: pressure)
        memory.withLock { memory in
            memory.glance = glance
            memory.glancedAt = now
        }
        return glance
    }

    /// Returns what holds for the next admission. Measures the volume again if the last measurement is older
    /// than ``interval``.
    func standing(_ database: Database) throws -> Standing {
        let configuration = try configuration.current()
        let now = environment.uptime()
        let known = memory.withLock { memory in
            now - memory.sampledAt < Self.interval ? memory.standing : nil
        }
        if let known, known.configuration == configuration { return known }
        return try sample(database)
    }

    /// Returns the most that all may be charged, for accounting, which must continue when the volume cannot
    /// be measured: then the last known value, or `nil`.
    func ceiling(_ database: Database) -> Int64? {
        let now = environment.uptime()
        let (known, isFresh) = memory.withLock { memory in
            (memory.standing, now - memory.sampledAt < Self.interval)
        }
        if let known, isFresh { return known.ceiling }
        do {
            return try preview(database).ceiling
        } catch {
            environment.logger.warning("The volume cannot be measured.", metadata: ["error": "\(error)"])
            return known?.ceiling
        }
    }

    /// The most that all could be charged when the volume was last measured, in bytes.
    var lastCeiling: Int64 { memory.withLock { $0.standing?.ceiling ?? 0 } }

    /// Measures the volume, and remembers the result.
    func sample(_ database: Database) throws -> Standing {
        let standing = try preview(database)
        if try Self.remembered(database) != Remembered(standing) {
            try Remembered(standing).write(to: database)
        }
        if try Unreleased(database) != standing.unreleased { try standing.unreleased.write(to: database) }
        let now = environment.uptime()
        memory.withLock { memory in
            memory.standing = standing
            memory.sampledAt = now
            memory.glance = Glance(configuration: standing.configuration, pressure: standing.pressure)
            memory.glancedAt = now
        }
        return standing
    }

    /// Returns what ``sample(_:)`` would, without remembering it.
    func preview(_ database: Database) throws -> Standing {
        let configuration = try configuration.current()
        let model = configuration.capacityModel
        var state = try volume()
        let evictable = try evictableBytes(database)
        var unreleased = try Unreleased(database)
        unreleased.follow(Unreleased.sum(own: evictable, free: state.available))
        state.evictable = Unreleased.sum(own: evictable, free: unreleased.bytes)
        let remembered = try Self.remembered(database)
        let cap: Int64? = if case .automaticUpTo(let cap) = configuration.budget { cap.bytes } else { nil }
        let capacity = model.capacity(of: state, cap: cap)
        let budget =
            switch configuration.budget {
            case .fixed(let bytes): bytes.bytes
            case .automatic, .automaticUpTo:
                model.budget(from: remembered?.budget, to: capacity.budget)
            }
        return Standing(
            configuration: configuration, capacity: capacity,
            pressure: model.pressure(of: state, after: remembered?.pressure ?? .normal), budget: budget,
            unreleased: unreleased)
    }

    /// Runs an eviction, and notes what the volume does not show of it afterwards.
    ///
    /// - Parameter free: The bytes that are free before.
    func noting<Result>(
        _ database: Database, from free: Int64, _ eviction: () throws -> Result
    ) throws -> Result {
        // Only of what has a row: the rest is not evicted.
        let own = try Admission.evictableBytes(database)
        let result = try eviction()
        let ownNow = try Admission.evictableBytes(database)
        guard ownNow < own else { return result }
        let freeNow = try available()
        let lost = Unreleased.sum(own: own, free: free) - Unreleased.sum(own: ownNow, free: freeNow)
        let missing = min(lost, own - ownNow)
        // The rest is what others have written meanwhile, or the charge of what is no block.
        guard missing > (own - ownNow) / 2 else { return result }
        var unreleased = try Unreleased(database)
        unreleased.add(missing, ownOrFree: Unreleased.sum(own: try evictableBytes(database), free: freeNow))
        try unreleased.write(to: database)
        return result
    }

    /// Forgets the budget in force, so that the next measurement is not subject to hysteresis.
    func forgetBudget(_ database: Database) throws {
        try database.execute(sql: "UPDATE volume SET budget = NULL")
        memory.withLock { $0.standing = nil }
    }

    /// Bytes on the volume that the cache could release. Includes items under way: otherwise writing them
    /// would reduce the budget that they were admitted to.
    private func evictableBytes(_ database: Database) throws -> Int64 {
        let items = try Admission.evictableBytes(database)
        let incoming = folders.current.incoming
        var partials: Int64 = 0
        for entry in try environment.fileSystem.entries(of: incoming.descriptor) {
            if let hash = CacheLayout.hash(ofKeptPartial: entry.name) {
                // A partial without a writer is counted among the items.
                guard try Partials.chargedLength(hash, in: database) == nil else { continue }
            } else if CacheLayout.session(of: entry.name) == nil {
                continue
            }
            let name = FilePath(root: nil, [entry.name])
            let attributes = try environment.fileSystem.attributes(of: name, in: incoming.descriptor)
            partials += attributes?.allocated ?? 0
        }
        return items + partials
    }

    private static func remembered(_ database: Database) throws -> Remembered? {
        try Row.fetchOne(database.cachedStatement(sql: "SELECT budget, pressure FROM volume"))
            .map(Remembered.init)
    }
}

/// The measurements that the catalog remembers.
private struct Remembered: Equatable {
    /// The automatic budget in force; `nil` under a fixed one.
    let budget: Int64?
    let pressure: Pressure

    init(_ standing: Standing) {
        if case .fixed = standing.configuration.budget { budget = nil } else { budget = standing.budget }
        pressure = standing.pressure
    }

    init(_ row: Row) throws {
        budget = try row.value(0)
        pressure = Pressure(rawValue: try row.value(1)) ?? .normal
    }

    func write(to database: Database) throws {
        try database.execute(sql: "DELETE FROM volume")
        try database.execute(
            sql: "INSERT INTO volume VALUES (?, ?)", arguments: [budget, pressure.rawValue])
    }
}
