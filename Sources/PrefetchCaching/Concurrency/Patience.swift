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
    /// The limit, unless whoever waits is in a hurry.
    static let limit = Duration.seconds(5)
    /// The limit soon after another wait has timed out, so that many calls do not each wait for the full time.
    private static let rest = Duration.milliseconds(20)
    /// For how long, before it gives up, a wait looks as often as one that has just begun.
    private static let end = Duration.seconds(1)

    private struct Wait: Sendable {
        let start: Duration
        let isShort: Bool
        /// Whether one more attempt was granted although the time is up: the lock may have been released since the
        /// last one, above all if this process was stopped meanwhile, too.
        var isOver = false
        /// Whether it will soon give up.
        var isEnding = false
    }

    private let uptime: @Sendable () -> Duration
    private let limit: @Sendable () -> Duration
    private let sleep: @Sendable (_ microseconds: UInt32) -> Void
    /// When a wait last timed out.
    private let lastInVain = UnfairMutex<Duration?>(nil)
    private let lastStall = UnfairMutex<Duration?>(nil)

    /// - Parameters:
    ///   - uptime: See ``CacheEnvironment/uptime``.
    ///   - limit: Asked again and again, so that it also ends waits that have begun.
    init(
        uptime: @escaping @Sendable () -> Duration = Patience.uptime,
        limit: @escaping @Sendable () -> Duration = { Patience.limit },
        sleep: @escaping @Sendable (_ microseconds: UInt32) -> Void = { usleep($0) }
    ) {
        self.uptime = uptime
        self.limit = limit
        self.sleep = sleep
    }

    @Sendable private static func uptime() -> Duration { start.duration(to: .now) }
    private static let start = ContinuousClock.now

    /// Repeats `attempt` until it succeeds or times out.
    ///
    /// - Returns: Whether it succeeded.
    func wait<Failure: Error>(_ attempt: () throws(Failure) -> Bool) throws(Failure) -> Bool {
        if try attempt() { return true }
        var wait = begin()
        var number = 0
        while goesOn(&wait) {
            sleep(Self.microseconds(before: wait.isEnding ? 0 : number))
            number += 1
            if try attempt() {
                noteSuccess()
                return true
            }
        }
        return false
    }

    /// For a connection to a database: as ``wait(_:)``. On a timeout SQLite fails with `SQLITE_BUSY`. The caller
    /// reports success by ``noteSuccess()``.
    func busyCallback() -> @Sendable (_ attempts: Int) -> Bool {
        // A connection waits for one lock at a time.
        let wait = Mutex(begin())
        return { [self] number in
            let (goesOn, isEnding) = wait.withLock { wait in
                if number == 0 { wait = begin() }
                return (self.goesOn(&wait), wait.isEnding)
            }
            if goesOn { sleep(Self.microseconds(before: isEnding ? 0 : number)) }
            return goesOn
        }
    }

    /// Notes that the lock was released.
    func noteSuccess() {
        lastInVain.withLock { $0 = nil }
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
        return Wait(
            start: now, isShort: lastInVain.withLock { last in last.map { now - $0 < Self.limit } ?? false })
    }

    private func goesOn(_ wait: inout Wait) -> Bool {
        if wait.isOver { return false }
        let now = uptime()
        let limit = limit()
        wait.isEnding = !wait.isShort && now - wait.start >= limit - Self.end
        guard now - wait.start >= (wait.isShort ? min(limit, Self.rest) : limit) else { return true }
        // Whoever was in a hurry has learnt nothing about the others.
        if limit == Self.limit { lastInVain.withLock { $0 = now } }
        wait.isOver = true
        return true
    }

    static func pause(_ number: Int) { usleep(microseconds(before: number)) }

    /// Short at first, since file locks have no queue: processes that use a lock constantly leave it free only for
    /// moments. Later up to 10 ms, so that waiting costs little; but whoever looks more rarely than newcomers may find a
    /// lock that is wanted by many taken every time, hence the shortest again before it gives up.
    static func microseconds(before attempt: Int) -> UInt32 { UInt32(100 * min(max(attempt - 8, 1), 100)) }
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

    /// Finds the holder of a lock on one of several files, preferably a stopped one, by a look at all open files of all
    /// processes of this user: to explain an error, not more often. None of the files is opened: closing a database would
    /// release the locks of this process on it.
    ///
    /// - Parameters:
    ///   - names: In `folder`.
    ///   - byte: The locked byte, if it is not the whole file.
    static func of(_ names: [FilePath], in folder: Directory, byte: Int64? = nil) -> LockHolder? {
        let fileSystem = folder.fileSystem
        let files = Set(
            names.compactMap { name in
                attempt { () throws(FileSystemError) in
                    try fileSystem.attributes(of: name, in: folder.descriptor)?.identity
                } ?? nil
            })
        guard !files.isEmpty else { return nil }
        var holder: LockHolder?
        for process in entries("/proc", fileSystem) {
            guard let number = Int32(process),
                entries("/proc/\(process)/fdinfo", fileSystem).contains(where: { file in
                    text("/proc/\(process)/fdinfo/\(file)", fileSystem).map {
                        isLocked($0, files, byte)
                    } ?? false
                }),
                let status = text("/proc/\(process)/stat", fileSystem),
                let found = LockHolder(number, procStat: status)
            else { continue }
            if found.isStopped { return found }
            holder = holder ?? found
        }
        return holder
    }

    /// - Parameter text: Lines such as `lock: 1: FLOCK  ADVISORY  WRITE 4711 fd:00:1234 0 EOF` among others.
    private static func isLocked(
        _ text: String, _ files: Set<FileAttributes.Identity>, _ byte: Int64?
    ) -> Bool {
        text.split(separator: "\n").contains { line in
            guard line.hasPrefix("lock:") else { return false }
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count > 8, let file = FileAttributes.Identity(procLocks: words[6]) else {
                return false
            }
            return files.contains(file) && (byte == nil || byte == Int64(words[7]))
        }
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

    private static func entries(_ path: String, _ fileSystem: any FileSystem) -> [String] {
        attempt { () throws(FileSystemError) in
            let folder = try fileSystem.open(FilePath(path), in: .workingDirectory, .directory)
            defer { fileSystem.close(folder) }
            return try fileSystem.entries(of: folder).map(\.name.string)
        } ?? []
    }

    private static func text(_ path: String, _ fileSystem: any FileSystem) -> String? {
        attempt { () throws(FileSystemError) in
            String(
                decoding: try fileSystem.contents(
                    ofStream: FilePath(path), in: .workingDirectory, limit: 4096),
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
    static func busy(
        _ what: String, _ names: [FilePath], in folder: Directory, byte: Int64? = nil
    ) -> CacheError {
        .busy(what, by: LockHolder.of(names, in: folder, byte: byte))
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
                return try patience.wait(attempt)
            }
        }
        // Who does not wait has another way, and need not know who holds it.
        guard let locked else { throw patience == nil ? .busy(what, by: nil) : .busy(what, ["."], in: self) }
        return locked
    }
}
