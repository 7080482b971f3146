internal import FileSystem
internal import Synchronization
internal import SystemPackage

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
    /// Finds out whether the process that has locked one of several files runs: see ``LockHolder/isRunning(_:in:)``.
    typealias Look = @Sendable (_ names: [FilePath], _ folder: Directory) -> Bool

    /// What a call waits for a process that is stopped, or of which nothing is known. Who waits longer looks at the
    /// holder this often.
    static let limit = Duration.seconds(5)
    /// What a call waits for a process that runs: longer than finding the items of a process that was killed takes, or
    /// decoding a large one, and not for ever, since a process may hang or be frozen and look as if it ran.
    static let longest = Duration.seconds(30)
    /// What it waits when another has waited in vain: many calls must not wait for one another's waiting.
    private static let rest = Duration.milliseconds(20)

    /// A wait that was in vain.
    private struct InVain: Sendable {
        let end: Duration
        /// Whether it was for a process that runs.
        let wasLongest: Bool
    }

    /// One call's waiting.
    private struct Wait: Sendable {
        /// When the holder is looked at.
        var look: Duration
        let end: Duration
    }

    private let uptime: @Sendable () -> Duration
    private let isRunning: Look
    private let inVain = Mutex<InVain?>(nil)
    private let heldUp = Mutex<Duration?>(nil)

    /// - Parameter uptime: See ``CacheEnvironment/uptime``.
    init(
        uptime: @escaping @Sendable () -> Duration = Patience.uptime,
        isRunning: @escaping Look = { LockHolder.isRunning($0, in: $1) }
    ) {
        self.uptime = uptime
        self.isRunning = isRunning
    }

    @Sendable private static func uptime() -> Duration { start.duration(to: .now) }
    private static let start = ContinuousClock.now

    /// Repeats `attempt` until it succeeds or the time is over.
    ///
    /// - Parameter names: The files of which one is locked, in `folder`.
    /// - Returns: Whether it succeeded.
    func wait<Failure: Error>(
        for names: [FilePath], in folder: Directory, _ attempt: () throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        if try attempt() { return true }
        var wait = begin()
        var number = 0
        var goesOn = true
        while goesOn {
            Self.pause(number)
            number += 1
            // Before the last attempt: this process may have been stopped meanwhile, too.
            goesOn = self.goesOn(&wait, names, folder)
            if try attempt() {
                noteSuccess()
                return true
            }
        }
        return false
    }

    /// For a connection to a database: as ``wait(for:in:_:)``. SQLite then fails with `SQLITE_BUSY`. What succeeds is to
    /// be noted.
    func busyCallback(_ names: [FilePath], in folder: Directory) -> @Sendable (_ attempts: Int) -> Bool {
        // A connection waits for one lock at a time.
        let wait = Mutex(begin())
        return { [self] number in
            let goesOn = wait.withLock { wait in
                if number == 0 { wait = begin() }
                return self.goesOn(&wait, names, folder)
            }
            if goesOn { Self.pause(number) }
            return goesOn
        }
    }

    /// Whoever had the lock has let go of it.
    func noteSuccess() {
        inVain.withLock { $0 = nil }
    }

    /// SQLite has tried for 10 seconds in vain, as it does without asking where a process was stopped just when it marked
    /// what it reads of a write-ahead log.
    func noteHeldUp() {
        let now = uptime()
        heldUp.withLock { $0 = now }
    }

    /// Whether SQLite should not be asked now, since it was held up not long ago: for as long as it would try.
    var isHeldUp: Bool {
        guard let last = heldUp.withLock({ $0 }) else { return false }
        return uptime() - last < Self.limit * 2
    }

    private func begin() -> Wait {
        let now = uptime()
        let last = inVain.withLock { last in last.flatMap { now - $0.end < Self.limit ? $0 : nil } }
        return Wait(
            look: now + (last == nil ? Self.limit : Self.rest),
            end: now + (last?.wasLongest == true ? Self.rest : Self.longest))
    }

    private func goesOn(_ wait: inout Wait, _ names: [FilePath], _ folder: Directory) -> Bool {
        let now = uptime()
        guard now >= wait.look else { return true }
        let isRunning = isRunning(names, folder)
        if isRunning, now < wait.end {
            wait.look = min(now + Self.limit, wait.end)
            return true
        }
        inVain.withLock { $0 = InVain(end: now, wasLongest: isRunning) }
        return false
    }

    /// Short, since nobody stands in line: processes that use a lock all the time leave it free for moments.
    private static func pause(_ number: Int) {
        usleep(number < 10 ? 100 : 1000)
    }
}
