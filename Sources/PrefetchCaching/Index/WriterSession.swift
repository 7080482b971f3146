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
        /// Whether the file lists all intents.
        var isListing = false
        /// Whether the file was found to have been emptied.
        var isEmptied = false
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
        try state.withLock { state throws(CacheError) in try begin(&state, moving) }
    }

    private func begin(
        _ state: inout State, waiting isWaiting: Bool = true, _ moving: () -> Int64
    ) throws(CacheError) {
        let incoming = folders.current.incoming
        var bound: Int64 = 0
        if let held = state.lock {
            let found = try onFiles(environment.fileSystem.lengthAndLinks(of: held.file))
            if held.incoming === incoming, found.linkCount == 1 {
                let written =
                    held.isListing ? state.intents.fileLength : held.bound > 0 ? WriterBound.length : 0
                guard held.isEmptied || found.length < written else { return }
                // A process that has rebuilt the catalog since then assumes that nothing is held.
                bound = moving()
                try onFiles(
                    environment.fileSystem.writeAll(WriterBound(bound).image, to: held.file, at: 0))
                state.lock = Lock(file: held.file, incoming: incoming, bound: bound)
                return writeList(&state)
            }
            environment.fileSystem.unlock(held.file)
            state.lock = nil
            bound = moving()
        }
        let name = CacheLayout.lock(session: environment.session)
        let taken = try onFiles(takeLock(name, in: incoming, bound, waiting: isWaiting))
        guard let file = taken else { throw .busy("writer's file", [name], in: incoming) }
        state.lock = Lock(file: file, incoming: incoming, bound: bound)
        writeList(&state)
    }

    /// Writes into the lock file how much of the budget this process may hold, for processes that have to
    /// rebuild the catalog. A process without the lock holds nothing.
    ///
    /// - Parameter bound: Called under the lock, so that the last write has the latest value.
    func write(_ bound: () -> Int64) throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            guard let held = state.lock else { return }
            // Here rather than with every item: whoever rebuilds the catalog meanwhile counts too little for this process.
            if held.isListing, try !hasList(held.file) { state.lock?.isEmptied = true }
            let bound = bound()
            guard bound != held.bound else { return }
            guard try environment.fileSystem.lengthAndLinks(of: held.file).linkCount <= 1 else {
                throw FileSystemError(
                    "write", path: CacheLayout.lock(session: environment.session), errno: .tooManyLinks)
            }
            try environment.fileSystem.writeAll(WriterBound(bound).image, to: held.file, at: 0)
            state.lock?.bound = bound
        }
    }

    private func hasList(_ file: Descriptor) throws(FileSystemError) -> Bool {
        var header = [UInt8](repeating: 0, count: WriteIntents.header.count)
        _ = try header.withMutableBytes { bytes throws(FileSystemError) in
            try environment.fileSystem.readAll(file, into: bytes, at: WriteIntents.headerOffset)
        }
        return header == WriteIntents.header
    }

    private func takeLock(
        _ name: FilePath, in incoming: Directory, _ bound: Int64, waiting isWaiting: Bool
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
                func lock() throws(FileSystemError) -> Bool { try fileSystem.lock(file, waiting: false) }
                isFree = try isWaiting ? folders.patience.wait(lock) : lock()
                // A sweep may have locked and removed the file in between.
                guard isFree else { return false }
                return try fileSystem.attributes(of: file).linkCount > 0
            }
            if let locked { return locked }
        }
        return nil
    }

    /// Whether the process holds the lock.
    var isWriter: Bool { state.withLock { $0.lock != nil } }

    /// Lists an item that is about to be placed: it would be charged to nobody if this process died.
    func intend(toPlace hash: KeyHash) throws(FileSystemError) -> WriteIntents.Place {
        try state.withLock { state throws(FileSystemError) in
            let place = state.intents.add(hash)
            do throws(FileSystemError) {
                try list([place], &state)
            } catch {
                state.intents.end([place])
                throw error
            }
            return place
        }
    }

    /// Lists an item that is about to be removed, or whose partial is. A process that only removes takes the lock for that.
    /// Works on every volume: at worst the row of an item that is gone stays until somebody asks for it, or it is evicted
    /// in turn.
    ///
    /// - Parameter moving: As for ``begin(_:)``.
    func intend(toRemove hash: KeyHash, moving: () -> Int64) -> WriteIntents.Place {
        state.withLock { state in
            if let held = state.lock, held.incoming !== folders.current.incoming {
                listing { () throws(CacheError) in try begin(&state, waiting: false, moving) }
            }
            return listRemovals([hash], &state)[0]
        }
    }

    /// As ``intend(toRemove:)``, of items that the transaction under way is about to evict.
    func intend(toEvict hashes: [KeyHash]) {
        state.withLock { state in state.evictions += listRemovals(hashes, &state) }
    }

    private func listRemovals(_ hashes: [KeyHash], _ state: inout State) -> [WriteIntents.Place] {
        let places = hashes.map { state.intents.add($0) }
        listing {
            if state.lock == nil {
                // Lists all. Without waiting: the catalog may be locked.
                try begin(&state, waiting: false) { 0 }
            } else {
                try list(places, &state)
            }
        }
        return places
    }

    private func listing(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            environment.logger.debug("Removals were not listed.", metadata: ["error": "\(error)"])
        }
    }

    /// The places of what was evicted since the last call.
    func takeEvictions() -> [WriteIntents.Place] {
        state.withLock { state in
            defer { state.evictions = [] }
            return state.evictions
        }
    }

    func hashes(at places: [WriteIntents.Place]) -> [KeyHash] {
        state.withLock { state in places.map(state.intents.hash(at:)) }
    }

    /// Gives places to others, since the catalog has recorded what became of their items, or nothing has.
    func end(_ places: [WriteIntents.Place]) {
        guard !places.isEmpty else { return }
        state.withLock { state in
            state.intents.end(places)
            guard let held = state.lock, !held.isListing || state.intents.isOverlong else { return }
            // What stays in the file beyond them is outdated.
            if state.intents.isEmpty { state.intents = WriteIntents() }
            writeList(&state)
        }
    }

    /// Writes places of the list. Where that is impossible, as on a full volume, the list is cut off, so that whoever finds
    /// this process dead looks at all items.
    private func list(_ places: [WriteIntents.Place], _ state: inout State) throws(FileSystemError) {
        guard let held = state.lock, held.isListing else { return }
        do {
            for part in state.intents.parts(for: places) {
                try environment.fileSystem.writeAll(part.bytes, to: held.file, at: part.offset)
            }
        } catch {
            try environment.fileSystem.resize(held.file, to: WriteIntents.headerOffset)
            state.lock?.isListing = false
        }
    }

    /// Writes the whole list anew. The header comes last: without it there is no list, and ``end(_:)`` tries again.
    private func writeList(_ state: inout State) {
        guard let held = state.lock else { return }
        let fileSystem = environment.fileSystem
        do {
            // As it is until it was cut: it lists more than it must.
            guard try fileSystem.lengthAndLinks(of: held.file).linkCount <= 1 else { return }
            try fileSystem.resize(held.file, to: WriteIntents.headerOffset)
            state.lock?.isListing = false
            for part in state.intents.allParts {
                try fileSystem.writeAll(part.bytes, to: held.file, at: part.offset)
            }
            try fileSystem.writeAll(WriteIntents.header, to: held.file, at: WriteIntents.headerOffset)
            state.lock?.isListing = true
        } catch {
            environment.logger.debug("A writer's list was not written.", metadata: ["error": "\(error)"])
        }
    }

    /// Releases the lock.
    ///
    /// - Parameter removingFile: Whether the process has left the catalog. If not, or if something is unrecorded, it is as if
    ///   it had died.
    func end(removingFile: Bool) {
        state.withLock { state in
            guard let held = state.lock else { return }
            do {
                if removingFile, state.intents.isEmpty {
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

    private static func lockFiles(in incoming: Directory) throws(FileSystemError)
        -> [(session: String, name: FilePath)]
    {
        try incoming.fileSystem.entries(of: incoming.descriptor).compactMap { entry in
            guard let session = CacheLayout.session(of: entry.name),
                case let name = CacheLayout.lock(session: session), entry.name.string == name.string
            else { return nil }
            return (session, name)
        }
    }

    /// The most of the budget that each living process may hold, by session.
    static func bounds(in incoming: Directory) throws(FileSystemError) -> [String: Int64] {
        let fileSystem = incoming.fileSystem
        var bounds: [String: Int64] = [:]
        for (session, name) in try lockFiles(in: incoming) {
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

    /// What dead writers had not yet recorded in the catalog, roughly in the order in which it happened.
    ///
    /// - Returns: `nil` when it is not known of all of them.
    static func intents(of sessions: [String], in incoming: Directory) -> [KeyHash]? {
        let fileSystem = incoming.fileSystem
        var (all, known): ([KeyHash], Set<KeyHash>) = ([], [])
        for session in sessions {
            do throws(FileSystemError) {
                let name = CacheLayout.lock(session: session)
                let file = try fileSystem.open(name, in: incoming.descriptor, .read)
                defer { fileSystem.close(file) }
                guard let hashes = try WriteIntents.hashes(in: file, of: fileSystem) else { return nil }
                all += hashes.filter { known.insert($0).inserted }
            } catch {
                return nil
            }
        }
        return all
    }

    /// Dead writers whose lock files have lists, sorted.
    static func deadWithList(in incoming: Directory) throws(FileSystemError) -> [String] {
        var dead: [String] = []
        for (session, name) in try lockFiles(in: incoming) {
            do throws(FileSystemError) {
                guard try mayList(name, in: incoming), try !isAlive(session, in: incoming) else { continue }
                dead.append(session)
            } catch {
                // One that cannot be looked at must not make the catalog unusable.
                continue
            }
        }
        return dead.sorted()
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
    ///   - isDryRun: Whether to report only what would be removed.
    ///   - keepsList: Whether the lock file of a session stays if it lists what the catalog may not have recorded.
    /// - Returns: What was removed, and the files that could not be. They do not stop the removal of the others.
    static func sweep(
        _ incoming: Directory, isDryRun: Bool = false, keepingList keepsList: (String) -> Bool = { _ in true }
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
                        if name.extension == "lock", keepsList(session), try mayList(path, in: incoming) {
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

    private static func mayList(_ name: FilePath, in incoming: Directory) throws(FileSystemError) -> Bool {
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
