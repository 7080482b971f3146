internal import Dispatch
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization
internal import SystemPackage

/// Prevents concurrent promotions of one key, across threads and processes, by `flock` on one of 256 files, chosen by
/// the key's hash. The lock ends with its process.
///
/// Threads of one process queue for as long as it takes; waits for other processes are limited by ``Patience``.
final class KeyLock: Sendable {
    /// Retries for a lock file that was replaced before it was locked.
    private static let attempts = 100

    private let staging: Directory
    private let patience: Patience
    /// The waiting threads, by the name of each lock that this process uses.
    private let turns = UnfairMutex<[String: [DispatchSemaphore]]>([:])

    init(staging: Directory, _ patience: Patience) {
        self.staging = staging
        self.patience = patience
    }

    /// Runs `body` under the lock of a key. Waits for the lock.
    func hold<Result>(
        _ hash: KeyHash, _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        try hold([hash], body)
    }

    /// Runs `body` under the locks of several keys. Waits for each.
    ///
    /// Each file is opened once, however many of the keys share it, since the locks of two descriptors conflict even
    /// within one thread. All callers take them in the order of their names, which prevents deadlock.
    func hold<Result>(
        _ hashes: [KeyHash], _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        let names = Set(hashes.map { CacheLayout.keyLock(of: $0).string }).sorted()
        for name in names { beginTurn(name) }
        defer { for name in names { endTurn(name) } }
        var held: [Descriptor] = []
        defer { for file in held { staging.fileSystem.unlock(file) } }
        for name in names.map({ FilePath($0) }) {
            guard let file = try take(name, waiting: true) else { throw .busy("item", [name], in: staging) }
            held.append(file)
        }
        return try body()
    }

    /// Runs `body` under those locks of several keys that nothing holds. Waits for none.
    ///
    /// - Parameter body: Receives whether the lock of a key is held.
    func holdFree<Result>(
        _ hashes: [KeyHash], _ body: ((KeyHash) -> Bool) throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        var held: [String: Descriptor] = [:]
        defer {
            for (name, file) in held {
                staging.fileSystem.unlock(file)
                endTurn(name)
            }
        }
        for name in Set(hashes.map { CacheLayout.keyLock(of: $0).string }) where beginTurnIfFree(name) {
            do throws(CacheError) {
                held[name] = try take(FilePath(name), waiting: false)
            } catch {
                endTurn(name)
                throw error
            }
            if held[name] == nil { endTurn(name) }
        }
        return try body { held[CacheLayout.keyLock(of: $0).string] != nil }
    }

    /// Runs `body` under the lock of a key, unless it is held elsewhere.
    func holdIfFree(_ hash: KeyHash, _ body: () throws(CacheError) -> Void) throws(CacheError) {
        let name = CacheLayout.keyLock(of: hash)
        guard beginTurnIfFree(name.string) else { return }
        defer { endTurn(name.string) }
        guard let file = try take(name, waiting: false) else { return }
        defer { staging.fileSystem.unlock(file) }
        try body()
    }

    /// Takes one lock. A lock on a file that was removed meanwhile excludes no other process: others lock its
    /// replacement.
    ///
    /// - Returns: The locked file, which the caller unlocks; `nil` when it is held elsewhere.
    private func take(_ name: FilePath, waiting: Bool) throws(CacheError) -> Descriptor? {
        try onFiles { () throws(FileSystemError) in
            let fileSystem = staging.fileSystem
            var isFree = true
            for _ in 0..<Self.attempts where isFree {
                let locked = try fileSystem.open(
                    name, in: staging.descriptor, .createIfMissing(CacheLayout.filePermissions)
                ) { file throws(FileSystemError) in
                    isFree = try lock(file, name, waiting: waiting)
                    guard isFree else { return false }
                    let own = try fileSystem.attributes(of: file).identity
                    return try fileSystem.attributes(of: name, in: staging.descriptor)?.identity == own
                }
                if let locked { return locked }
            }
            // Something replaces it all the time, or the volume has no stable inodes.
            if isFree { throw FileSystemError("flock", path: name, errno: .staleNFSFileHandle) }
            return nil
        }
    }

    private func lock(_ file: Descriptor, _ name: FilePath, waiting: Bool) throws(FileSystemError) -> Bool {
        guard waiting else { return try staging.fileSystem.lock(file, waiting: false) }
        return try patience.wait(for: [name], in: staging) { () throws(FileSystemError) in
            try staging.fileSystem.lock(file, waiting: false)
        }
    }

    private func beginTurn(_ name: String) {
        let turn: DispatchSemaphore? = turns.withLock { turns in
            guard turns[name] != nil else {
                turns[name] = []
                return nil
            }
            let turn = DispatchSemaphore(value: 0)
            turns[name]?.append(turn)
            return turn
        }
        turn?.wait()
    }

    private func beginTurnIfFree(_ name: String) -> Bool {
        turns.withLock { turns in
            guard turns[name] == nil else { return false }
            turns[name] = []
            return true
        }
    }

    private func endTurn(_ name: String) {
        turns.withLock { turns in
            if let waiting = turns[name], !waiting.isEmpty {
                turns[name]?.removeFirst().signal()
            } else {
                turns[name] = nil
            }
        }
    }
}
