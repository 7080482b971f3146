internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// How long calls wait for a lock that another process holds. That process may have been stopped, so every wait is
/// bounded.
final class Patience: Sendable {
    /// Whether the process that has locked one of several files is running: see ``LockHolder/isRunning(_:in:)``.
    typealias Look = @Sendable (_ names: [FilePath], _ folder: Directory) -> Bool

    /// The limit for a process that is stopped or unknown, and the interval at which longer waits check the holder.
    static let limit = Duration.seconds(5)
    /// The limit for a running process: longer than reclaiming a dead writer or decoding a large item takes, but
    /// finite, since a process may hang or be frozen and still appear to run.
    static let longest = Duration.seconds(30)
    /// The limit while the cache is being suspended: the system grants about 5 seconds for everything.
    private static let hurry = Duration.seconds(1)
    /// The limit soon after another wait has timed out, so that many calls do not each wait for the full time.
    private static let rest = Duration.milliseconds(20)

    /// A wait that timed out.
    private struct InVain: Sendable {
        let end: Duration
        /// Whether it was for a running process.
        let wasLongest: Bool
    }

    /// The deadlines of one call.
    private struct Wait: Sendable {
        let start: Duration
        /// When to check the holder.
        var look: Duration
        let end: Duration
        /// Whether one more attempt was granted although the time is up: the lock may have been released since the
        /// last one, above all if this process was stopped meanwhile, too.
        var isOver = false
    }

    private let uptime: @Sendable () -> Duration
    private let isRunning: Look
    private let isHurried: @Sendable () -> Bool
    private let inVain = UnfairMutex<InVain?>(nil)
    private let lastStall = UnfairMutex<Duration?>(nil)

    /// - Parameters:
    ///   - uptime: See ``CacheEnvironment/uptime``.
    ///   - isHurried: Whether the cache is being suspended.
    init(
        uptime: @escaping @Sendable () -> Duration = Patience.uptime,
        isHurried: @escaping @Sendable () -> Bool = { false },
        isRunning: @escaping Look = { LockHolder.isRunning($0, in: $1) }
    ) {
        self.uptime = uptime
        self.isHurried = isHurried
        self.isRunning = isRunning
    }

    @Sendable private static func uptime() -> Duration { start.duration(to: .now) }
    private static let start = ContinuousClock.now

    /// Repeats `attempt` until it succeeds or times out.
    ///
    /// - Parameter names: The files of which one is locked, in `folder`.
    /// - Returns: Whether it succeeded.
    func wait<Failure: Error>(
        for names: [FilePath], in folder: Directory, _ attempt: () throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        if try attempt() { return true }
        var wait = begin()
        var number = 0
        while goesOn(&wait, names, folder) {
            Self.pause(number)
            number += 1
            if try attempt() {
                noteSuccess()
                return true
            }
        }
        return false
    }

    /// For a connection to a database: as ``wait(for:in:_:)``. On a timeout SQLite fails with `SQLITE_BUSY`. The caller
    /// reports success by ``noteSuccess()``.
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

    /// Notes that the lock was released.
    func noteSuccess() {
        inVain.withLock { $0 = nil }
    }

    /// Notes that SQLite has retried for 10 seconds in vain. It does so without calling the busy handler when a process
    /// was stopped while claiming a read mark of a write-ahead log.
    func noteStall() {
        let now = uptime()
        lastStall.withLock { $0 = now }
    }

    /// Whether to avoid SQLite because it was held up recently, for as long as it would retry.
    var isStalled: Bool {
        guard let last = lastStall.withLock({ $0 }) else { return false }
        return uptime() - last < Self.limit * 2
    }

    private func begin() -> Wait {
        let now = uptime()
        let last = inVain.withLock { last in last.flatMap { now - $0.end < Self.limit ? $0 : nil } }
        return Wait(
            start: now, look: now + (last == nil ? Self.limit : Self.rest),
            end: now + (last?.wasLongest == true ? Self.rest : Self.longest))
    }

    private func goesOn(_ wait: inout Wait, _ names: [FilePath], _ folder: Directory) -> Bool {
        if wait.isOver { return false }
        let now = uptime()
        if now - wait.start >= Self.hurry, isHurried() {
            wait.isOver = true
            return true
        }
        guard now >= wait.look else { return true }
        let isRunning = isRunning(names, folder)
        if isRunning, now < wait.end {
            wait.look = min(now + Self.limit, wait.end)
            return true
        }
        inVain.withLock { $0 = InVain(end: now, wasLongest: isRunning) }
        wait.isOver = true
        return true
    }

    /// Short, since file locks have no queue: processes that use a lock constantly leave it free only for moments.
    static func pause(_ number: Int) {
        usleep(number < 10 ? 100 : 1000)
    }
}

/// The process that holds a lock, where the system reports it: Linux does, in `/proc`.
///
/// See ``CacheError/busy(_:by:)``.
public struct LockHolder: Hashable, Sendable {
    /// The number of the process.
    public let processID: Int32
    /// The name of its program.
    public let name: String
    /// Whether it is stopped, by a signal or a debugger. A process in a frozen cgroup is not reported as stopped.
    public let isStopped: Bool

    /// Finds the holder of a lock on one of several files, preferably a stopped one. None of the files is opened:
    /// closing a database would release the locks of this process on it.
    ///
    /// - Parameter names: In `folder`.
    static func of(_ names: [FilePath], in folder: Directory) -> LockHolder? {
        let fileSystem = folder.fileSystem
        let files = Set(
            names.compactMap { name in
                attempt { () throws(FileSystemError) in
                    try fileSystem.attributes(of: name, in: folder.descriptor)?.identity
                } ?? nil
            })
        guard !files.isEmpty, let locks = text("/proc/locks", limit: 1 << 20, fileSystem) else { return nil }
        var holder: LockHolder?
        for line in locks.split(separator: "\n") {
            // 1: FLOCK ADVISORY WRITE 4711 fd:00:1234 0 EOF; "->" precedes the kind where a process waits.
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] != "->", let process = Int32(words[4]), process > 0,
                let file = FileAttributes.Identity(procLocks: words[5]), files.contains(file),
                let status = text(FilePath("/proc/\(process)/stat"), limit: 4096, fileSystem),
                let found = LockHolder(process, procStat: status)
            else { continue }
            if found.isStopped { return found }
            holder = holder ?? found
        }
        return holder
    }

    /// - Parameter text: `4711 (program) S` and much more. The name may contain anything.
    private init?(_ process: Int32, procStat text: String) {
        guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")"), start < end else {
            return nil
        }
        processID = process
        name = String(text[text.index(after: start)..<end])
        isStopped = ["T", "t"].contains(text[end...].dropFirst(2).first)
    }

    /// Whether the holder of a lock is known not to be stopped.
    static func isRunning(_ names: [FilePath], in folder: Directory) -> Bool {
        #if canImport(Darwin)
            // Unknown. An app that holds a lock when the system suspends it is terminated, which frees the lock.
            true
        #else
            of(names, in: folder)?.isStopped == false
        #endif
    }

    private static func text(_ path: FilePath, limit: Int, _ fileSystem: any FileSystem) -> String? {
        attempt { () throws(FileSystemError) in
            String(
                decoding: try fileSystem.contents(ofStream: path, in: .workingDirectory, limit: limit),
                as: UTF8.self)
        }
    }

    /// The holder is optional information: an error here must not replace the one being explained.
    private static func attempt<Result>(_ body: () throws(FileSystemError) -> Result) -> Result? {
        do {
            return try body()
        } catch {
            return nil
        }
    }
}

extension FileAttributes.Identity {
    /// `MAJOR:MINOR:INODE`, the first two in hexadecimal.
    fileprivate init?(procLocks text: Substring) {
        let parts = text.split(separator: ":")
        guard parts.count == 3, let major = UInt64(parts[0], radix: 16),
            let minor = UInt64(parts[1], radix: 16), let inode = UInt64(parts[2])
        else { return nil }
        // As `makedev` combines them.
        let device =
            (major & 0xFFF) << 8 | (major & 0xFFFF_F000) << 32 | minor & 0xFF | (minor & 0xFFFF_FF00) << 12
        self.init(device: device, inode: inode)
    }
}

extension CacheError {
    /// The lock of `what` could not be acquired in time.
    static func busy(_ what: String, _ names: [FilePath], in folder: Directory) -> CacheError {
        .busy(what, by: LockHolder.of(names, in: folder))
    }
}

extension Directory {
    /// Takes the folder's own lock (`flock`), waiting for it; unlike a lock file, it cannot be missing. It
    /// also excludes other threads, since each call opens the folder again. Where the file system does not
    /// support such locks, the call succeeds without one.
    ///
    /// - Parameters:
    ///   - patience: `nil` to not wait at all.
    ///   - what: What the lock protects, for the error.
    /// - Returns: The descriptor to unlock (``FileSystem/unlock(_:)``).
    /// - Throws: ``CacheError/busy(_:by:)`` when another process does not release it.
    func takeLock(
        _ patience: Patience?, _ mode: LockMode = .exclusive, for what: String
    ) throws(CacheError) -> Descriptor {
        let locked = try onFiles { () throws(FileSystemError) in
            try fileSystem.open(".", in: descriptor, .directory) { own throws(FileSystemError) in
                func attempt() throws(FileSystemError) -> Bool { try fileSystem.lockIfSupported(own, mode) }
                guard let patience else { return try attempt() }
                return try patience.wait(for: ["."], in: self, attempt)
            }
        }
        guard let locked else { throw .busy(what, ["."], in: self) }
        return locked
    }
}
