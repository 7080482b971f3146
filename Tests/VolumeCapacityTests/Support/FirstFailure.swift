import FileSystemTestSupport
import PrefetchVolumeCapacity

/// How many random cases each property is held against.
let caseCount = TestRun.count(short: 30_000, long: 200_000)

/// The first of many random cases that breaks a property, as text; `nil` when none does. One expectation
/// for all of them keeps a debug build fast.
///
/// - Parameter property: What is wrong with the next case, or `nil`.
func firstFailure(
    seed: UInt64 = 0x5EED, count: Int = caseCount, _ property: (inout RandomStates) -> String?
) -> String? {
    var random = RandomStates(seed: seed)
    for number in 0..<count {
        if let failure = property(&random) { return "case \(number): \(failure)" }
    }
    return nil
}

/// Every amount of a capacity that depends on the available bytes.
func outputs(_ capacity: Capacity) -> [(name: String, value: Int64)] {
    [
        ("low", capacity.low), ("reserve", capacity.reserve), ("ownOrFree", capacity.ownOrFree),
        ("important", capacity.important), ("opportunistic", capacity.opportunistic),
        ("share", capacity.share), ("room", capacity.room), ("cap", capacity.cap),
        ("quantum", capacity.quantum), ("budget", capacity.budget),
    ]
}
