/// What `testprograms store` prints.
struct WorkReport: Decodable, Sendable {
    var stored: Int
    var hits: Int
    var opened: Int
    var removed: Int
    var refusals: [String: Int]
    var purged: Int
    /// What nobody but one task stores or removes, by its key.
    var keepsakes: [String: Keepsake]
    var wrong: Int
    var faults: [String]

    struct Keepsake: Decodable, Sendable {
        /// The versions of its content that may be there.
        var versions: Set<UInt64>
        /// Whether one of them has to be, where the system purges nothing.
        var isThere: Bool
    }
}

/// What `testprograms open` prints.
struct OpenReport: Decodable, Sendable {
    var stored: Int
    var opens: Int
    var firstOpens: Int
    var purged: Int
    var wrong: Int
    /// Of every key that was opened all paths that came of it.
    var paths: [String: Set<String>]
    var faults: [String]
}

/// What `testprograms commands` prints.
struct CommandsReport: Decodable, Sendable {
    var runs: [String: Int]
    var faults: [String]
}

/// What `testprograms purge` prints.
struct PurgerReport: Decodable, Sendable {
    var purges: [String: Int]
    var faults: [String]
}

/// What `testprograms api` prints.
struct APIReport: Decodable, Sendable {
    var calls: [String: Int]
    var cancelled: Int
    var opensAtOnce: Int
    var events: Int
    var faults: [String]
}

/// What `testprograms sample` prints.
struct SampleReport: Decodable, Sendable {
    var samples: Int
    var largestSum: Int64
    var sumsAboveBudget: Int
    var largestLowerBound: Int64
    var lowerBoundsAboveBudget: Int
}

struct LockReport: Decodable {
    let calls: [String: Int]
    let checks: Int
    let lost: [String]
    let faults: [String]
}
