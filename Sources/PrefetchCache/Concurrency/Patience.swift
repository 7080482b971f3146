internal import GRDB
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// How long calls wait for a lock that another process holds. That process may have been stopped, so every wait
/// has an end.
final class Patience: Sendable {
    /// What a call waits at most.
    static let limit = Duration.seconds(5)
    /// What it waits when another has waited in vain: many calls must not wait for one another's waiting.
    private static let rest = Duration.milliseconds(20)

    private let uptime: @Sendable () -> Duration
    private let usedUp = Mutex<Duration?>(nil)

    /// - Parameter uptime: See ``CacheEnvironment/uptime``.
    init(uptime: @escaping @Sendable () -> Duration = Patience.uptime) {
        self.uptime = uptime
    }

    @Sendable private static func uptime() -> Duration { start.duration(to: .now) }
    private static let start = ContinuousClock.now

    /// Repeats `attempt` until it succeeds or the time is over.
    ///
    /// - Returns: Whether it succeeded.
    func wait<Failure: Error>(for attempt: () throws(Failure) -> Bool) throws(Failure) -> Bool {
        if try attempt() { return true }
        let end = end()
        var number = 0
        var isOver = false
        while !isOver {
            Self.pause(number)
            number += 1
            // Looked at before the last attempt: this process may have been stopped meanwhile, too.
            isOver = uptime() >= end
            if try attempt() {
                noteSuccess()
                return true
            }
        }
        noteUsedUp()
        return false
    }

    /// For a database: as ``wait(for:)``. SQLite then fails with `SQLITE_BUSY`. What succeeds is to be noted.
    var busyMode: Database.BusyMode {
        // A connection waits for one lock at a time.
        let end = Mutex(Duration.zero)
        return .callback { [self] number in
            if number == 0 { end.withLock { $0 = self.end() } }
            guard uptime() < end.withLock({ $0 }) else {
                noteUsedUp()
                return false
            }
            Self.pause(number)
            return true
        }
    }

    /// Whoever had the lock has let go of it.
    func noteSuccess() {
        usedUp.withLock { $0 = nil }
    }

    private func end() -> Duration {
        let now = uptime()
        let isUsedUp = usedUp.withLock { last in last.map { now - $0 < Self.limit } ?? false }
        return now + (isUsedUp ? Self.rest : Self.limit)
    }

    private func noteUsedUp() {
        let now = uptime()
        usedUp.withLock { $0 = now }
    }

    /// Short, since nobody stands in line: processes that use a lock all the time leave it free for moments.
    private static func pause(_ number: Int) {
        usleep(number < 10 ? 100 : 1000)
    }
}
