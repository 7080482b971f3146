import PrefetchCaching

/// A record of the storing of the files.
struct StoreRun {
    /// One file.
    struct Step {
        let key: ItemKey
        let outcome: StoreOutcome
        /// The charge of all items right after it, while others were still being stored.
        let charged: Int64
    }

    let warm: [ItemKey]
    /// The keys of ``warm`` that are stored.
    var storedWarm: [ItemKey] { warm.filter(stored.contains) }
    /// In the order in which they were stored.
    private(set) var stored: [ItemKey] = []
    private(set) var refused = 0

    /// The highest charge in any sample.
    private(set) var peakCharged: Int64 = 0
    private(set) var samples = 0
    /// The most of the volume that the items took, as the file system counts.
    private(set) var peakAllocated: Int64 = 0
    private(set) var walks = 0
    private var milestones = 0

    init(warm: [ItemKey]) {
        self.warm = warm
    }

    mutating func note(_ step: Step) {
        switch step.outcome {
        case .stored, .delivered: stored.append(step.key)
        case .refused: refused += 1
        }
        peakCharged = max(peakCharged, step.charged)
        samples += 1
    }

    mutating func note(allocated: Int64) {
        peakAllocated = max(peakAllocated, allocated)
        walks += 1
    }

    /// Whether another fifth is done.
    mutating func isMilestone(of total: Int) -> Bool {
        let fifths = samples * 5 / max(total, 1)
        defer { milestones = fifths }
        return fifths > milestones
    }
}
