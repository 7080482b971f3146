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

    private struct State: Sendable {
        var lock: Lock?
        var intents = WriteIntents()
        /// The places of items that the transaction under way is evicting.
        var evictions: [WriteIntents.Place] = []
    }

    private let environment: CacheEnvironment
    private let folders: CacheFolders
    private let state = UnfairMutex(State())
    private let lastNumber = Atomic<UInt64>(0)

    init(_ environment: CacheEnvironment, folders: CacheFolders) {
        self.environment = environment
        self.folders = folders
    }

    deinit {
        // Nobody has closed the cache: its row in the catalog stays, for which its list is needed.
        end(removingFile: false)
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
        try state.withLock { state throws(CacheError) in
            var bound: Int64 = 0
            if let held = state.lock {
                let found = try onFiles(environment.fileSystem.attributes(of: held.file))
                if held.incoming === incoming, found.linkCount == 1 {
                    guard found.length < state.intents.fileLength else { return }
                    // A process that has rebuilt the catalog since then assumes that nothing is held.
                    bound = moving()
                    state.lock?.bound = bound
                    try onFiles(
                        environment.fileSystem.writeAll(WriterBound(bound).image, to: held.file, at: 0))
                    return writeList(of: &state.intents, to: held.file)
                }
                environment.fileSystem.unlock(held.file)
                state.lock = nil
                bound = moving()
            }
            let name = CacheLayout.lock(session: environment.session)
            let taken = try onFiles(takeLock(name, in: incoming, bound))
            guard let file = taken else { throw .busy("writer's file", [name], in: incoming) }
            state.lock = Lock(file: file, incoming: incoming, bound: bound)
            writeList(of: &state.intents, to: file)
        }
    }

    /// Writes into the lock file how much of the budget this process may hold, for processes that have to
    /// rebuild the catalog. A process without the lock holds nothing.
    ///
    /// - Parameter bound: Called under the lock, so that the last write has the latest value.
    func write(_ bound: () -> Int64) throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            guard let held = state.lock else { return }
            let bound = bound()
            guard bound != held.bound else { return }
            guard try environment.fileSystem.attributes(of: held.file).linkCount <= 1 else {
                throw FileSystemError(
                    "write", path: CacheLayout.lock(session: environment.session), errno: .tooManyLinks)
            }
            try environment.fileSystem.writeAll(WriterBound(bound).image, to: held.file, at: 0)
            state.lock?.bound = bound
        }
    }

    /// Writes the whole list into a file that has none. On a full volume it stays without: then nothing is admitted anyway.
    private func writeList(of intents: inout WriteIntents, to file: Descriptor) {
        do {
            try environment.fileSystem.writeAll(intents.image, to: file, at: WriterBound.length)
        } catch {
            intents.isComplete = false
            environment.logger.debug("A writer's list was not written.", metadata: ["error": "\(error)"])
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
                if bound > 0 { try fileSystem.writeAll(WriterBound(bound).image, to: file, at: 0) }
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

    /// Lists an item that is about to be placed, or removed outside of a transaction.
    ///
    /// - Returns: `nil` for a process that is no writer: when it has died, nobody asks for what it has changed.
    func intend(_ hash: KeyHash) throws(FileSystemError) -> WriteIntents.Place? {
        try state.withLock { state throws(FileSystemError) in
            guard let file = state.lock?.file else { return nil }
            let place = state.intents.add(hash)
            do throws(FileSystemError) {
                try write([place], of: &state.intents, to: file)
            } catch {
                state.intents.end([place])
                throw error
            }
            return place
        }
    }

    /// Lists items that the transaction under way is about to evict. That must not fail on a full volume: at worst, rows of
    /// items that are gone stay until they are evicted in turn.
    func intend(toEvict hashes: [KeyHash]) {
        state.withLock { state in
            guard let file = state.lock?.file else { return }
            let places = hashes.map { state.intents.add($0) }
            state.evictions += places
            do throws(FileSystemError) {
                try write(places, of: &state.intents, to: file)
            } catch {
                environment.logger.debug("Evictions were not listed.", metadata: ["error": "\(error)"])
            }
        }
    }

    /// The places of what was evicted since the last call.
    func takeEvictions() -> [WriteIntents.Place] {
        state.withLock { state in
            defer { state.evictions = [] }
            return state.evictions
        }
    }

    /// Gives places to others, since the catalog has recorded what became of their items.
    func end(_ places: [WriteIntents.Place]) {
        state.withLock { state in
            state.intents.end(places)
            guard state.intents.reset(), let file = state.lock?.file else { return }
            do {
                let header = state.intents.header
                try environment.fileSystem.resize(file, to: state.intents.fileLength)
                try environment.fileSystem.writeAll(header.bytes, to: file, at: header.offset)
            } catch {
                // A list that is too long, or counts as incomplete, costs only time.
                environment.logger.debug("A writer's list was not cut.", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Writes places of the list, or notes there that it is not complete: a full volume has no room for a longer file.
    private func write(
        _ places: [WriteIntents.Place], of intents: inout WriteIntents, to file: Descriptor
    ) throws(FileSystemError) {
        guard intents.isComplete else { return }
        let fileSystem = environment.fileSystem
        do {
            for part in intents.parts(for: places) {
                try fileSystem.writeAll(part.bytes, to: file, at: part.offset)
            }
        } catch {
            intents.isComplete = false
            do {
                try fileSystem.writeAll(intents.header.bytes, to: file, at: intents.header.offset)
            } catch {
                intents.isComplete = true
                throw error
            }
        }
    }

    /// Releases the lock, and removes its file unless the catalog still has to be told something: then it is as if the
    /// process had died.
    func end(removingFile: Bool = true) {
        state.withLock { state in
            guard let held = state.lock else { return }
            do {
                if removingFile, state.intents.isEmpty, held.bound == 0 {
                    try environment.fileSystem.unlink(
                        CacheLayout.lock(session: environment.session), in: held.incoming.descriptor)
                }
            } catch {
                // A lock file that stays behind is unlocked, and the next process removes it.
                environment.logger.debug(
                    "The writer's lock file was not removed.", metadata: ["error": "\(error)"])
            }
            environment.fileSystem.unlock(held.file)
            state.lock = nil
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

    /// What dead writers had not yet recorded in the catalog.
    ///
    /// - Returns: `nil` when it is not known of all of them.
    static func intents(of sessions: [String], in incoming: Directory) throws(FileSystemError)
        -> Set<KeyHash>?
    {
        let fileSystem = incoming.fileSystem
        var all: Set<KeyHash> = []
        for session in sessions {
            do {
                let name = CacheLayout.lock(session: session)
                let file = try fileSystem.open(name, in: incoming.descriptor, .read)
                defer { fileSystem.close(file) }
                guard let hashes = try WriteIntents.hashes(in: file, of: fileSystem) else { return nil }
                all.formUnion(hashes)
            } catch {
                guard error.isNotFound || error.isNotRegularFile || error.isNotPermitted else { throw error }
                return nil
            }
        }
        return all
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
    /// - Parameters:
    ///   - keepingLists: Whether lock files that list what the catalog may not have recorded stay, until it has.
    ///   - isDryRun: Whether to report only what would be removed.
    /// - Returns: What was removed, and the files that could not be. They do not stop the removal of the others.
    static func sweep(
        _ incoming: Directory, keepingLists: Bool = false, isDryRun: Bool = false
    ) throws(FileSystemError)
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
                        let path = FilePath(root: nil, [name])
                        if keepingLists, name.extension == "lock", try hasList(path, in: incoming) {
                            continue
                        }
                        if !isDryRun { try remove(path, in: incoming) }
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

    private static func hasList(_ name: FilePath, in incoming: Directory) throws(FileSystemError) -> Bool {
        let found = try incoming.fileSystem.attributes(of: name, in: incoming.descriptor)
        return found?.kind == .regular && WriteIntents.isThere(inFileOf: found?.length ?? 0)
    }

    private static func remove(_ name: FilePath, in incoming: Directory) throws(FileSystemError) {
        do {
            try incoming.fileSystem.unlink(name, in: incoming.descriptor)
        } catch {
            guard error.isNotFound else { throw error }
        }
    }
}
