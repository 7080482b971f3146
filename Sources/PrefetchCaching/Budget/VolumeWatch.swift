internal import Logging
internal import PrefetchFileSystem
internal import PrefetchVolumeCapacity
internal import Synchronization
internal import SystemPackage

/// Measures the volume, at limited intervals, and derives budget and pressure from it.
///
/// A budget shrinks at once and grows with hysteresis, and so do the levels of pressure. The last values are
/// kept in the catalog, so that all processes agree on them.
final class VolumeWatch: Sendable {
    /// How long a measurement is valid.
    static let interval = Duration.seconds(1)
    /// The counter with the budget that was last noted in the journal.
    private static let budgetRow = "budget"

    /// What can be determined without the catalog.
    typealias CurrentPressure = (configuration: CacheConfiguration, pressure: Pressure)

    private struct Memory: Sendable {
        var current: CurrentPressure?
        var currentAt = Duration.zero
        var snapshot: BudgetSnapshot?
        var sampledAt = Duration.zero
    }

    let environment: CacheEnvironment
    let configuration: ConfigurationFile
    private let folders: CacheFolders
    private let memory = UnfairMutex(Memory())

    init(environment: CacheEnvironment, folders: CacheFolders, configuration: ConfigurationFile) {
        self.environment = environment
        self.folders = folders
        self.configuration = configuration
    }

    /// The current state of the volume of a folder or of the items, without the cache's own space.
    func volume(of folder: Directory? = nil) throws(CacheError) -> VolumeState {
        try onFiles(environment.probe.state(of: (folder ?? folders.current.items).descriptor))
    }

    /// The bytes that can still be written there.
    func available(in folder: Directory? = nil) throws(CacheError) -> Int64 {
        try onFiles(environment.probe.available(of: (folder ?? folders.current.items).descriptor))
    }

    /// The free bytes, including the space of all files removed so far.
    func availableAfterSync() throws(CacheError) -> Int64 {
        do {
            try environment.fileSystem.synchronizeVolume(of: folders.current.items.descriptor)
        } catch {
            // The error concerns files of other programs. Use what the volume reports.
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
    func currentPressure() throws(CacheError) -> CurrentPressure {
        let now = environment.uptime()
        let (last, known) = memory.withLock { memory in
            (memory.current, now - memory.currentAt < Self.interval ? memory.current : nil)
        }
        if let known { return known }
        let configuration = try configuration.current()
        let pressure = configuration.capacityModel.pressure(
            of: try volume(), after: last?.pressure ?? .normal)
        memory.withLock { memory in
            memory.current = (configuration, pressure)
            memory.currentAt = now
        }
        return (configuration, pressure)
    }

    /// Returns the values for the next admission. Measures the volume again if the last measurement is older than
    /// ``interval``.
    func snapshot(_ transaction: CatalogTransaction) throws -> BudgetSnapshot {
        let configuration = try configuration.current()
        let now = environment.uptime()
        let known = memory.withLock { memory in
            now - memory.sampledAt < Self.interval ? memory.snapshot : nil
        }
        if let known, known.configuration == configuration { return known }
        return try sample(transaction)
    }

    /// Returns the most that all files may be charged, for accounting, which must continue when the volume cannot be
    /// measured: then the last known value, or `nil`.
    func ceiling(_ transaction: CatalogTransaction) -> Int64? {
        let now = environment.uptime()
        let (known, isFresh) = memory.withLock { memory in
            (memory.snapshot, now - memory.sampledAt < Self.interval)
        }
        if let known, isFresh { return known.ceiling }
        do {
            return try preview(transaction).ceiling
        } catch {
            environment.logger.warning("The volume cannot be measured.", metadata: ["error": "\(error)"])
            return known?.ceiling
        }
    }

    /// The most that all files could be charged when the volume was last measured, in bytes.
    var lastCeiling: Int64 { memory.withLock { $0.snapshot?.ceiling ?? 0 } }

    /// The most that an item could be charged then, in bytes. Unlimited before: nothing was granted yet.
    var lastLargestItem: Int64 { memory.withLock { $0.snapshot?.largestItem ?? .max } }

    /// Measures the volume, and remembers the result.
    func sample(_ transaction: CatalogTransaction) throws -> BudgetSnapshot {
        let snapshot = try preview(transaction)
        let remembered = try transaction.rememberedVolume()
        if remembered != snapshot.remembered { try transaction.remember(snapshot.remembered) }
        if remembered?.pressure ?? .normal != snapshot.pressure {
            transaction.changes.note(UsageEvent(kind: .pressure(snapshot.pressure)))
        }
        if try transaction.value(of: Self.budgetRow) != snapshot.budget {
            try transaction.setValue(of: Self.budgetRow, to: snapshot.budget)
            transaction.changes.note(UsageEvent(kind: .budget, chargedBytes: snapshot.budget))
        }
        if try Unreleased(transaction) != snapshot.unreleased {
            try snapshot.unreleased.write(to: transaction)
        }
        let now = environment.uptime()
        memory.withLock { memory in
            memory.snapshot = snapshot
            memory.sampledAt = now
            memory.current = (snapshot.configuration, snapshot.pressure)
            memory.currentAt = now
        }
        return snapshot
    }

    /// Returns what ``sample(_:)`` would, without remembering it.
    ///
    /// - Parameter available: As if so many bytes were available; `nil` for those that are.
    func preview(_ transaction: CatalogTransaction, available: Int64? = nil) throws -> BudgetSnapshot {
        let configuration = try configuration.current()
        let model = configuration.capacityModel
        var state = try volume()
        if let available { state = VolumeState(total: state.total, available: min(available, state.total)) }
        let evictable = try evictableBytes(transaction)
        var unreleased = try Unreleased(transaction)
        unreleased.follow(Unreleased.sum(own: evictable, free: state.available))
        state.evictable = Unreleased.sum(own: evictable, free: unreleased.bytes)
        let remembered = try transaction.rememberedVolume()
        let cap: Int64? = if case .automaticUpTo(let cap) = configuration.budget { cap.bytes } else { nil }
        let capacity = model.capacity(of: state, cap: cap)
        let budget =
            switch configuration.budget {
            case .fixed(let bytes): bytes.bytes
            case .automatic, .automaticUpTo:
                model.budget(from: remembered?.budget, to: capacity.budget)
            }
        return BudgetSnapshot(
            configuration: configuration, capacity: capacity,
            pressure: model.pressure(of: state, after: remembered?.pressure ?? .normal), budget: budget,
            unreleased: unreleased)
    }

    /// Runs an eviction, and notes how much of it the volume does not report as free afterwards.
    ///
    /// - Parameter free: The bytes that are free before.
    func noting<Result>(
        _ transaction: CatalogTransaction, from free: Int64, _ eviction: () throws -> Result
    ) throws -> Result {
        // Only files with a row: others are not evicted.
        let own = try transaction.evictableBytes()
        let result = try eviction()
        let ownNow = try transaction.evictableBytes()
        guard ownNow < own else { return result }
        let freeNow = try available()
        let lost = Unreleased.sum(own: own, free: free) - Unreleased.sum(own: ownNow, free: freeNow)
        let missing = min(lost, own - ownNow)
        // Smaller gaps are what others have written meanwhile, or charges that are not blocks.
        guard missing > (own - ownNow) / 2 else { return result }
        var unreleased = try Unreleased(transaction)
        unreleased.add(
            missing, ownOrFree: Unreleased.sum(own: try evictableBytes(transaction), free: freeNow))
        try unreleased.write(to: transaction)
        return result
    }

    /// Forgets the budget in force, so that the next measurement is not subject to hysteresis.
    func forgetBudget(_ transaction: CatalogTransaction) throws {
        try transaction.forgetBudget()
        memory.withLock { $0.snapshot = nil }
    }

    /// Bytes on the volume that the cache could release. Includes items under way: otherwise writing them
    /// would reduce the budget that they were admitted to.
    private func evictableBytes(_ transaction: CatalogTransaction) throws -> Int64 {
        let items = try transaction.evictableBytes()
        let incoming = folders.current.incoming
        var partials: Int64 = 0
        for entry in try environment.fileSystem.entries(of: incoming.descriptor) {
            if let hash = CacheLayout.hash(ofKeptPartial: entry.name) {
                // A partial without a writer is already counted with the items.
                guard try transaction.chargedBytes(ofPartial: hash) == nil else { continue }
            } else if CacheLayout.session(of: entry.name) == nil || entry.name.extension == "lock" {
                continue
            }
            let name = FilePath(root: nil, [entry.name])
            let attributes = try environment.fileSystem.attributes(of: name, in: incoming.descriptor)
            partials += attributes?.allocated ?? 0
        }
        return items + partials
    }
}

/// Budget and pressure, derived from the volume's free space and the configuration at one moment.
struct BudgetSnapshot: Sendable {
    let configuration: CacheConfiguration
    let capacity: Capacity
    let pressure: Pressure
    /// The budget in force, in bytes.
    let budget: Int64
    let unreleased: Unreleased

    /// The most that may be charged with what is stored now, in bytes: the budget, or what the volume can spare
    /// if that is less, as under a fixed budget on a nearly full volume.
    var ceiling: Int64 { min(budget, max(0, capacity.room - unreleased.bytes)) }

    /// What the cache is trimmed to, in bytes: the ceiling without the deduction of unreleased bytes.
    var limit: Int64 { min(budget, capacity.room) }

    var largestItem: Int64 { configuration.largestItemBytes(in: budget) }

    /// What the catalog remembers of it.
    var remembered: RememberedVolume {
        let isFixed = if case .fixed = configuration.budget { true } else { false }
        return RememberedVolume(budget: isFixed ? nil : budget, pressure: pressure)
    }

    /// Returns why an item that is charged `bytes` is not admitted, regardless of what else is in the cache;
    /// `nil` if it may be.
    func refusal(ofItem bytes: Int64) -> Refusal? {
        if let refusal = Self.refusal(configuration, pressure) { return refusal }
        // Without any budget, the size is not the reason.
        guard bytes > largestItem, budget > 0 else { return nil }
        return .largerThanLargestItem(needed: bytes, largest: largestItem)
    }

    /// Returns why nothing is admitted, or `nil`.
    static func refusal(_ configuration: CacheConfiguration, _ pressure: Pressure) -> Refusal? {
        if !configuration.isStoringEnabled { return .disabled }
        return pressure > .normal ? .pressure(pressure) : nil
    }
}

/// Bytes that were evicted but that the volume does not report as free: a snapshot or another hard link keeps them, or
/// the file system frees them later.
///
/// They stay a part of U. Without them, every trim would lower U + A, and with it the budget, and so cause the next
/// trim until nothing is left. Any rise of U + A counts as their release, even if another program made room: the budget
/// is then smaller than possible.
struct Unreleased: Equatable {
    private static let bytesRow = "unreleased.bytes"
    private static let ownOrFreeRow = "unreleased.ownOrFree"
    /// In bytes. No volume is larger, and a few of it do not overflow.
    private static let most: Int64 = 1 << 60

    private(set) var bytes: Int64 = 0
    /// U + A at the last measurement, without these bytes.
    private(set) var ownOrFree: Int64 = 0

    init(_ transaction: CatalogTransaction) throws {
        bytes = Self.sound(try transaction.value(of: Self.bytesRow))
        if bytes > 0 { ownOrFree = Self.sound(try transaction.value(of: Self.ownOrFreeRow)) }
    }

    private static func sound(_ bytes: Int64) -> Int64 { min(max(0, bytes), most) }

    /// U + A.
    static func sum(own: Int64, free: Int64) -> Int64 { sound(own) + sound(free) }

    /// Updates for a new U + A.
    mutating func follow(_ sum: Int64) {
        guard bytes > 0 else { return }
        bytes = max(0, bytes - max(0, sum - ownOrFree))
        ownOrFree = sum
    }

    mutating func add(_ missing: Int64, ownOrFree sum: Int64) {
        bytes = Self.sound(bytes + Self.sound(missing))
        ownOrFree = sum
    }

    func write(to transaction: CatalogTransaction) throws {
        try transaction.setValue(of: Self.bytesRow, to: bytes)
        try transaction.setValue(of: Self.ownOrFreeRow, to: ownOrFree)
    }
}

/// The free bytes of the items' volume, during evictions within a transaction of the catalog.
///
/// If the volume reports too little of what was removed as free, it is synchronised, which may take long where others
/// have written much, while all other writers wait for the transaction. So this is done at most twice: once to see
/// whether removal helps at all, after which later removals are assumed to help, and once to verify that at the end.
struct FreeBytes {
    private let watch: VolumeWatch
    /// As reported by the volume or, after it has reported them late, as assumed.
    private(set) var count: Int64
    private var isAssumed = false
    private var syncsLeft = 2

    init(_ watch: VolumeWatch) throws(CacheError) {
        self.watch = watch
        count = try watch.available()
    }

    /// Notes that `freed` bytes were removed.
    mutating func note(_ freed: Int64) throws(CacheError) {
        let before = count
        count = try watch.available()
        // The catalog's journal takes some of them.
        guard count - before < freed - freed / 8 - Admission.margin else { return }
        if isAssumed {
            count = max(count, before + freed)
        } else {
            try synchronize()
            // Only as long as one synchronisation is left for the end.
            isAssumed = syncsLeft > 0 && count > before
        }
    }

    /// Synchronises the volume, so that it reports what was removed so far, unless that was already done twice.
    mutating func synchronize() throws(CacheError) {
        guard syncsLeft > 0 else { return }
        syncsLeft -= 1
        isAssumed = false
        count = try watch.availableAfterSync()
    }

    /// Whether there are fewer than wanted. An assumed count is verified before it is taken to suffice.
    mutating func isBelow(_ wanted: Int64) throws(CacheError) -> Bool {
        if count >= wanted, isAssumed { try synchronize() }
        return count < wanted
    }
}
