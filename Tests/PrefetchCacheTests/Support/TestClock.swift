import Synchronization

/// A clock that a test sets, in whatever unit it wants.
final class TestClock: Sendable {
    private let time: Atomic<Int64>

    init(_ start: Int64 = 0) { time = Atomic(start) }

    var now: Int64 {
        get { time.load(ordering: .sequentiallyConsistent) }
        set { time.store(newValue, ordering: .sequentiallyConsistent) }
    }

    /// Goes on, or back.
    @discardableResult
    func advance(_ amount: Int64 = 1) -> Int64 {
        time.wrappingAdd(amount, ordering: .sequentiallyConsistent).newValue
    }

    /// The time, where it counts milliseconds.
    var milliseconds: Duration { .milliseconds(now) }
}
