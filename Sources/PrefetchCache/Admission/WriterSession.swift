internal import FileSystem
internal import Logging
internal import Synchronization
internal import SystemPackage

/// This process among the writers of the cache: a locked file in `incoming/`, whose name starts the
/// names of all its partials.
///
/// The lock dies with the process. One lock for all partials keeps the cost of a small item free of
/// it: another process that finds the lock free knows that every partial of that name is abandoned.
final class WriterSession: Sendable {
    private let environment: CacheEnvironment
    private let folders: CacheFolders
    private let lock = Mutex<Descriptor?>(nil)
    private let lastNumber = Atomic<UInt64>(0)

    init(_ environment: CacheEnvironment, folders: CacheFolders) {
        self.environment = environment
        self.folders = folders
    }

    deinit {
        end()
    }

    /// A name in `incoming/` that nobody else uses. Takes the lock first, when this is the first
    /// name since `incoming/` was made.
    func nextPartial() throws(FileSystemError) -> FilePath {
        try begin()
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        return CacheLayout.partial(session: environment.session, number: number)
    }

    private func begin() throws(FileSystemError) {
        try lock.withLock { lock throws(FileSystemError) in
            if lock != nil { return }
            let incoming = folders.current.incoming
            let fileSystem = environment.fileSystem
            let name = CacheLayout.lock(session: environment.session)
            while true {
                let file = try fileSystem.open(
                    name, in: incoming.descriptor, .createIfMissing(CacheLayout.filePermissions))
                // Somebody who cleans up may have locked and removed the file in between.
                if try fileSystem.lock(file, waiting: true), try fileSystem.attributes(of: file).linkCount > 0
                {
                    lock = file
                    return
                }
                fileSystem.close(file)
            }
        }
    }

    /// Takes the lock anew after `incoming/` was removed and made again.
    func renew() {
        lock.withLock { lock in
            if let file = lock { environment.fileSystem.close(file) }
            lock = nil
        }
    }

    /// Removes the lock file and gives up the lock.
    func end() {
        lock.withLock { current in
            guard let file = current else { return }
            do {
                try environment.fileSystem.unlink(
                    CacheLayout.lock(session: environment.session), in: folders.current.incoming.descriptor)
            } catch {
                // A lock file that stays behind is free, and the next process removes it.
                environment.logger.debug("The writer's lock file stays.", metadata: ["error": "\(error)"])
            }
            environment.fileSystem.close(file)
            current = nil
        }
    }

    /// Whether a session's process still runs, told by its lock.
    static func isAlive(_ session: String, in incoming: Directory) throws(FileSystemError) -> Bool {
        let fileSystem = incoming.fileSystem
        do {
            return try fileSystem.withFile(
                CacheLayout.lock(session: session), in: incoming.descriptor, .readWrite
            ) { file throws(FileSystemError) in
                try !fileSystem.lock(file, waiting: false)
            }
        } catch {
            if error.isNotFound { return false }
            throw error
        }
    }

    /// Removes the partials of writers that are no more, and their lock files.
    static func sweep(_ incoming: Directory) throws(FileSystemError) {
        let fileSystem = incoming.fileSystem
        let entries = try fileSystem.entries(of: incoming.descriptor)
        let sessions = Dictionary(grouping: entries.map(\.name)) { CacheLayout.session(of: $0) }
        for (session, names) in sessions {
            guard let session, try !isAlive(session, in: incoming) else { continue }
            // The lock file goes last: until then a second sweeper comes to the same verdict.
            for name in names.sorted(by: { $0.extension != "lock" && $1.extension == "lock" }) {
                do {
                    try fileSystem.unlink(FilePath(root: nil, [name]), in: incoming.descriptor)
                } catch {
                    guard error.isNotFound else { throw error }
                }
            }
        }
    }
}
