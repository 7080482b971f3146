internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import PrefetchVolumeCapacity
internal import Synchronization

/// What the cache would do if its volume ran short of space.
package struct PressureRehearsal: Hashable, Sendable {
    /// The level of pressure before anything is evicted.
    package let pressure: Pressure
    /// What maintenance would evict, in order.
    package let evicted: [EvictedFile]
    /// The number of items that would stay.
    package let remainingItems: Int
    /// The budget, and what is admitted, afterwards.
    package let after: CapacityReport
}

extension Engine {
    /// Finds out what maintenance would do if so many bytes of the volume were available: it runs in a transaction that
    /// is then rolled back, on files that only seem to be removed. Reserves of other processes count as used.
    ///
    /// - Complexity: As that of maintenance.
    func rehearse(available: Int64) throws(CacheError) -> PressureRehearsal {
        let volume = RehearsedVolume(total: try admission.watch.volume().total, available: available)
        let files = RehearsedFiles(files: evictor.files, volume: volume)
        var environment = environment
        environment.probe = volume
        let watch = VolumeWatch(environment: environment, folders: folders, configuration: configuration)
        let evictor = Evictor(
            files: files, rules: .following(watch), history: history, environment: environment,
            events: EventHub())
        let admission = Admission(catalog: catalog, evictor: evictor, watch: watch)
        return try catalog.simulating { transaction in
            try evictor.prepare(transaction)
            // It may be another attempt.
            files.restore()
            volume.setAvailable(available)
            return try transaction.rollingBack {
                let pressure = try watch.preview(transaction).pressure
                // An app repeats it every second.
                var count: Int
                repeat {
                    count = files.evicted.count
                    _ = try admission.maintain(in: transaction)
                } while files.evicted.count > count
                return PressureRehearsal(
                    pressure: pressure, evicted: files.evicted, remainingItems: try transaction.itemCount(),
                    after: try CapacityReport(watch.preview(transaction), transaction))
            }
        }
    }
}

/// A volume with other free space than the real one.
private final class RehearsedVolume: VolumeProbing {
    private let total: Int64
    private let available: Mutex<Int64>

    init(total: Int64, available: Int64) {
        self.total = total
        self.available = Mutex(min(available, total))
    }

    func state(of _: Descriptor) -> VolumeState {
        VolumeState(total: total, available: available.withLock { $0 })
    }

    func setAvailable(_ bytes: Int64) { available.withLock { $0 = min(bytes, total) } }

    func free(_ bytes: Int64) { available.withLock { $0 = min(total, $0 + bytes) } }
}

/// The files of the cache, of which none is removed.
private final class RehearsedFiles: CatalogedFiles {
    private let files: any CatalogedFiles
    private let volume: RehearsedVolume
    private let removed = Mutex<[EvictedFile]>([])

    init(files: any CatalogedFiles, volume: RehearsedVolume) {
        self.files = files
        self.volume = volume
    }

    var evicted: [EvictedFile] { removed.withLock { $0 } }

    func restore() { removed.withLock { $0 = [] } }

    func willRemove(_ victims: some Sequence<Victim>) {}

    func remove(_ victim: Victim, _ claim: Claim) -> Removal {
        removed.withLock { $0.append(EvictedFile(victim)) }
        volume.free(EvictionMeasure.blocks.bytes(of: victim))
        return .removed
    }

    func claim(_ victim: Victim) throws(FileSystemError) -> Claiming { try files.claim(victim) }

    func release(_ claim: Claim) { files.release(claim) }

    func storedBytes(of hash: KeyHash) throws(FileSystemError) -> Int64? { try files.storedBytes(of: hash) }

    func state(ofPartial hash: KeyHash) throws(FileSystemError) -> PartialFiles.State {
        try files.state(ofPartial: hash)
    }
}
