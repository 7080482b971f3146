internal import Logging
internal import PrefetchFileSystem
internal import Synchronization
internal import SystemPackage

/// This process as a writer of the cache: a locked file in `incoming/`, whose name prefixes the names of all its
/// partials.
///
/// The lock ends with the process. One lock for all partials costs nothing per item: when another process
/// finds the lock free, every partial of that name is abandoned.
final class WriterSession: Sendable {
    private struct Lock: Sendable {
        let file: Descriptor
        let incoming: Directory
        /// The bound that the file contains.
        var bound: Int64
    }

    private let environment: CacheEnvironment
    private let folders: CacheFolders
    private let lock = UnfairMutex<Lock?>(nil)
    private let lastNumber = Atomic<UInt64>(0)

    init(_ environment: CacheEnvironment, folders: CacheFolders) {
        self.environment = environment
        self.folders = folders
    }

    deinit {
        end()
    }

    /// A new, unique name in `incoming/`.
    func nextPartial() -> FilePath {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        return CacheLayout.partial(session: environment.session, number: number)
    }

    /// Takes the lock, unless it is held. Must come before the first reservation: others consider a writer without a
    /// lock dead. A new lock replaces one whose folder was recreated, whose file was removed or emptied, or whose file
    /// got a second hard link: writing to it would change a foreign file.
    ///
    /// - Parameter moving: Returns what this process may hold once the old lock is lost.
    /// - Throws: ``CacheError/fileSystem(_:)``, and ``CacheError/busy(_:by:)`` while another process reclaims this
    ///   writer as dead.
    func begin(_ moving: () -> Int64) throws(CacheError) {
        let incoming = folders.current.incoming
        try lock.withLock { lock throws(CacheError) in
            var bound: Int64 = 0
            if let held = lock {
                let found = try onFiles(environment.fileSystem.attributes(of: held.file))
                if held.incoming === incoming, found.linkCount == 1 {
                    guard held.bound > 0, found.length < WriterBound.length else { return }
                    // A process that has rebuilt the catalog since then assumes that nothing is held.
                    lock?.bound = moving()
                    return try onFiles(
                        WriterBound(lock?.bound ?? 0).write(to: held.file, in: environment.fileSystem))
                }
                environment.fileSystem.unlock(held.file)
                lock = nil
                bound = moving()
            }
            let name = CacheLayout.lock(session: environment.session)
            let taken = try onFiles(takeLock(name, in: incoming, bound))
            guard let file = taken else { throw .busy("writer's file", [name], in: incoming) }
            lock = Lock(file: file, incoming: incoming, bound: bound)
        }
    }

    /// Writes into the lock file how much of the budget this process may hold, for processes that have to
    /// rebuild the catalog. A process without the lock holds nothing.
    ///
    /// - Parameter bound: Called under the lock, so that the last write has the latest value.
    func write(_ bound: () -> Int64) throws(FileSystemError) {
        try lock.withLock { lock throws(FileSystemError) in
            guard let held = lock else { return }
            let bound = bound()
            guard bound != held.bound else { return }
            guard try environment.fileSystem.attributes(of: held.file).linkCount <= 1 else {
                throw FileSystemError(
                    "write", path: CacheLayout.lock(session: environment.session), errno: .tooManyLinks)
            }
            try WriterBound(bound).write(to: held.file, in: environment.fileSystem)
            lock?.bound = bound
        }
    }

    private func takeLock(
        _ name: FilePath, in incoming: Directory, _ bound: Int64
    ) throws(FileSystemError) -> Descriptor? {
        let fileSystem = environment.fileSystem
        var isFree = true
        while isFree {
            let locked = try fileSystem.open(
                name, in: incoming.descriptor, .createIfMissing(CacheLayout.filePermissions)
            ) { file throws(FileSystemError) in
                if try fileSystem.attributes(of: file).linkCount > 1 {
                    try Self.remove(name, in: incoming)
                    return false
                }
                // Another process that finds the lock held reads the bound.
                if bound > 0 { try WriterBound(bound).write(to: file, in: fileSystem) }
                isFree = try folders.patience.wait(for: [name], in: incoming) { () throws(FileSystemError) in
                    try fileSystem.lock(file, waiting: false)
                }
                // A sweep may have locked and removed the file in between.
                guard isFree else { return false }
                return try fileSystem.attributes(of: file).linkCount > 0
            }
            if let locked { return locked }
        }
        return nil
    }

    /// Removes the lock file and releases the lock.
    func end() {
        lock.withLock { current in
            guard let held = current else { return }
            do {
                try environment.fileSystem.unlink(
                    CacheLayout.lock(session: environment.session), in: held.incoming.descriptor)
            } catch {
                // A lock file that stays behind is unlocked, and the next process removes it.
                environment.logger.debug(
                    "The writer's lock file was not removed.", metadata: ["error": "\(error)"])
            }
            environment.fileSystem.unlock(held.file)
            current = nil
        }
    }

    /// Whether the process of a session still runs, by its lock.
    static func isAlive(_ session: String, in incoming: Directory) throws(FileSystemError) -> Bool {
        try ifDead(session, in: incoming) { () throws(FileSystemError) in } == nil
    }

    /// The most of the budget that each living process may hold, by session.
    static func bounds(in incoming: Directory) throws(FileSystemError) -> [String: Int64] {
        let fileSystem = incoming.fileSystem
        var bounds: [String: Int64] = [:]
        for entry in try fileSystem.entries(of: incoming.descriptor) {
            guard let session = CacheLayout.session(of: entry.name) else { continue }
            let name = CacheLayout.lock(session: session)
            guard entry.name.string == name.string else { continue }
            do {
                let file = try fileSystem.open(name, in: incoming.descriptor, .read)
                defer { fileSystem.unlock(file) }
                guard try !fileSystem.lock(file, waiting: false) else { continue }
                bounds[session] = try WriterBound(of: file, in: fileSystem).bytes
            } catch {
                guard error.isNotFound || error.isNotRegularFile else { throw error.naming(name) }
            }
        }
        return bounds
    }

    /// Files of a dead writer that cannot be removed.
    struct Leftover {
        let session: String
        /// Bytes that they take on the volume.
        let bytes: Int64
        let error: FileSystemError
    }

    /// Removes the partials and lock files of writers that have died.
    ///
    /// - Parameter isDryRun: Whether to report only what would be removed.
    /// - Returns: What was removed, and the files that could not be. They do not stop the removal of the others.
    static func sweep(_ incoming: Directory, isDryRun: Bool = false) throws(FileSystemError)
        -> (removed: [FilePath.Component], leftovers: [Leftover])
    {
        let entries = try incoming.fileSystem.entries(of: incoming.descriptor)
        var removed: [FilePath.Component] = []
        var leftovers: [Leftover] = []
        for (session, names) in Dictionary(grouping: entries.map(\.name), by: CacheLayout.session) {
            guard let session else { continue }
            do throws(FileSystemError) {
                _ = try ifDead(session, in: incoming) { () throws(FileSystemError) in
                    // The lock file is removed last: until then a concurrent sweep comes to the same result.
                    for name in names.sorted(by: { $0.extension != "lock" && $1.extension == "lock" }) {
                        if !isDryRun { try remove(FilePath(root: nil, [name]), in: incoming) }
                        removed.append(name)
                    }
                }
            } catch {
                var bytes: Int64 = 0
                for name in names {
                    let file = try incoming.fileSystem.attributes(
                        of: FilePath(root: nil, [name]), in: incoming.descriptor)
                    bytes += file?.allocated ?? 0
                }
                leftovers.append(Leftover(session: session, bytes: bytes, error: error))
            }
        }
        return (removed, leftovers)
    }

    /// Runs `body` if the process of a session is dead, and holds its lock meanwhile, so that a process that is about
    /// to take the lock does not use a name that is being removed.
    ///
    /// - Returns: `nil` if the process lives.
    private static func ifDead<Result>(
        _ session: String, in incoming: Directory, _ body: () throws(FileSystemError) -> Result
    ) throws(FileSystemError) -> Result? {
        let fileSystem = incoming.fileSystem
        let lock: Descriptor
        do {
            lock = try fileSystem.open(
                CacheLayout.lock(session: session), in: incoming.descriptor, .read)
        } catch {
            // No writer holds a lock on a symbolic link or a folder.
            guard error.isNotFound || error.isNotRegularFile else { throw error }
            return try body()
        }
        defer { fileSystem.unlock(lock) }
        return try fileSystem.lock(lock, waiting: false) ? body() : nil
    }

    private static func remove(_ name: FilePath, in incoming: Directory) throws(FileSystemError) {
        do {
            try incoming.fileSystem.unlink(name, in: incoming.descriptor)
        } catch {
            guard error.isNotFound else { throw error }
        }
    }
}

/// The most of the budget that a process may hold, as recorded in its lock file.
///
/// The catalog has the exact number, but can be lost. The lock file, which shows whether a process lives,
/// always has at least as much: it is written before a grant is committed, and after one was released.
struct WriterBound {
    static let length: Int64 = 16
    /// Retries of a read that overlaps a write.
    private static let attempts = 1000

    let bytes: Int64

    init(_ bytes: Int64) {
        self.bytes = bytes
    }

    /// Reads the bound while its process may be writing it.
    init(of file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        for _ in 0..<Self.attempts {
            var buffer = [UInt8](repeating: 0, count: Int(Self.length))
            let count = try buffer.withMutableBytes { bytes throws(FileSystemError) in
                try fileSystem.readAll(file, into: bytes, at: 0)
            }
            guard count > 0 else {
                bytes = 0
                return
            }
            let words = buffer.withUnsafeBytes {
                ($0.loadUnaligned(as: Int64.self), $0.loadUnaligned(fromByteOffset: 8, as: Int64.self))
            }
            guard words.0 == ~words.1 else { continue }
            bytes = max(0, Int64(littleEndian: words.0))
            return
        }
        throw FileSystemError("read", errno: .ioError)
    }

    /// Writes the bound and its complement with one call. The complement lets a reader detect a torn read.
    func write(to file: Descriptor, in fileSystem: any FileSystem) throws(FileSystemError) {
        let word = bytes.littleEndian
        try fileSystem.writeAll(Self.bytes(word) + Self.bytes(~word), to: file, at: 0)
    }

    private static func bytes(_ word: Int64) -> [UInt8] {
        withUnsafeBytes(of: word) { [UInt8]($0) }
    }
}
