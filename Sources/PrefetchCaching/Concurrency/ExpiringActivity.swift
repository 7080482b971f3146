internal import Dispatch
internal import Foundation
internal import Synchronization

/// Calls `block` with `false` on a thread of the system's, which must not suspend the process before that returns, and
/// with `true` when the time is up; with `true` alone when no time is granted. Returns at once.
package typealias PerformExpiringActivity =
    @Sendable (_ reason: String, _ block: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void

/// A time during which the system does not suspend the process, unless the activity expires first.
final class ExpiringActivity: Sendable {
    private enum State {
        case underWay, expiring, over
    }

    private let state = Mutex(State.underWay)
    private let isOver = DispatchSemaphore(value: 0)

    #if canImport(Darwin) && !os(macOS)
        static let ofTheSystem: PerformExpiringActivity? = { reason, block in
            ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: block)
        }
    #else
        static let ofTheSystem: PerformExpiringActivity? = nil
    #endif

    /// - Parameter expire: Called when the time is up before ``end()``. The process is suspended when it returns.
    init(
        _ reason: String, by perform: PerformExpiringActivity, expire: @escaping @Sendable () -> Void
    ) {
        perform(reason) { isExpired in
            guard isExpired else { return self.isOver.wait() }
            guard self.leaves(.underWay, for: .expiring) else { return }
            expire()
            if self.leaves(.expiring, for: .over) { self.isOver.signal() }
        }
    }

    /// Lets the process be suspended. Waits for nothing: an activity that is expiring goes on until it has expired.
    func end() {
        if leaves(.underWay, for: .over) { isOver.signal() }
    }

    private func leaves(_ old: State, for new: State) -> Bool {
        state.withLock { state in
            guard state == old else { return false }
            state = new
            return true
        }
    }
}
