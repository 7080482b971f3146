import Synchronization

/// Counts calls that a test intercepts.
final class CallCounter: Sendable {
    private let count = Atomic<Int>(0)

    /// The number of earlier calls.
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}
