internal import Dispatch
internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization
internal import SystemPackage

/// Prevents concurrent promotions of one key, across threads and processes, by a lock on one byte of a file, at a position
/// that is most of the key's hash. The lock ends with its process.
///
/// Threads of one process queue for as long as it takes; waits for other processes are limited by ``Patience``.
final class KeyLock: Sendable {
    /// Retries for a lock file that was removed before it was locked.
    private static let attempts = 100

    private let staging: Directory
    private let patience: Patience
    /// The waiting threads, by the position of each lock that this process uses.
    private let turns = UnfairMutex<[Int64: [DispatchSemaphore]]>([:])

    /// The lock that was last waited for in vain. A wait for another one says nothing about it.
    private let lastInVain = UnfairMutex<Int64?>(nil)

    init(staging: Directory, _ patience: Patience) {
        self.staging = staging
        self.patience = patience
    }

    /// The byte of a key: never negative, nor the last one that a file may have.
    static func position(of hash: KeyHash) -> Int64 { Int64(hash.high >> 2) }

    /// Runs `body` under the lock of a key. Waits for the lock.
    func hold<Result>(
        _ hash: KeyHash, _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        try hold([hash], body)
    }

    /// Runs `body` under the locks of several keys. Waits for each.
    ///
    /// All callers take them in the order of their positions, which prevents deadlock.
    func hold<Result>(
        _ hashes: [KeyHash], _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        let positions = Set(hashes.map(Self.position)).sorted()
        for position in positions { beginTurn(position) }
        defer { for position in positions { endTurn(position) } }
        var awaited: Int64?
        let file = try open { file throws(FileSystemError) in
            for position in positions {
                awaited = position
                if lastInVain.withLock({ $0 != position }) { patience.noteSuccess() }
                let isLocked = try patience.wait { () throws(FileSystemError) in
                    try staging.fileSystem.lockByte(position, of: file)
                }
                guard isLocked else { return false }
            }
            return true
        }
        guard let file else {
            lastInVain.withLock { $0 = awaited }
            throw .busy("item", [CacheLayout.keyLocks], in: staging, byte: awaited)
        }
        defer { staging.fileSystem.unlock(file) }
        return try body()
    }

    /// Runs `body` under those locks of several keys that nothing holds. Waits for none.
    ///
    /// - Parameter body: Receives whether the lock of a key is held.
    func holdFree<Result>(
        _ hashes: [KeyHash], _ body: ((KeyHash) -> Bool) throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        let positions = Set(hashes.map(Self.position)).filter(beginTurnIfFree)
        defer { for position in positions { endTurn(position) } }
        guard !positions.isEmpty else { return try body { _ in false } }
        var held: Set<Int64> = []
        let file = try open { file throws(FileSystemError) in
            held = []
            for position in positions where try staging.fileSystem.lockByte(position, of: file) {
                held.insert(position)
            }
            return !held.isEmpty
        }
        defer { if let file { staging.fileSystem.unlock(file) } }
        return try body { file != nil && held.contains(Self.position(of: $0)) }
    }

    /// Runs `body` under the lock of a key, unless it is held elsewhere.
    ///
    /// - Returns: Whether it was run.
    @discardableResult
    func holdIfFree(_ hash: KeyHash, _ body: () throws(CacheError) -> Void) throws(CacheError) -> Bool {
        try holdFree([hash]) { isHeld throws(CacheError) in
            guard isHeld(hash) else { return false }
            try body()
            return true
        }
    }

    /// Opens the file and locks it by `lock`. A lock on a file that was removed meanwhile excludes no other process: others
    /// lock its replacement.
    ///
    /// - Returns: The file, to be closed by ``FileSystem/unlock(_:)``; `nil` when `lock` returned `false`.
    private func open(
        _ lock: (Descriptor) throws(FileSystemError) -> Bool
    ) throws(CacheError) -> Descriptor? {
        try onFiles { () throws(FileSystemError) in
            let fileSystem = staging.fileSystem
            for _ in 0..<Self.attempts {
                let file = try fileSystem.open(
                    CacheLayout.keyLocks, in: staging.descriptor,
                    .createIfMissing(CacheLayout.filePermissions))
                do throws(FileSystemError) {
                    let isLocked = try lock(file)
                    if isLocked, try fileSystem.lengthAndLinks(of: file).linkCount > 0 { return file }
                    fileSystem.unlock(file)
                    if !isLocked { return nil }
                } catch {
                    fileSystem.unlock(file)
                    throw error
                }
            }
            // Something removes it all the time, or the volume does not count links.
            throw FileSystemError("fcntl", path: CacheLayout.keyLocks, errno: .staleNFSFileHandle)
        }
    }

    private func beginTurn(_ position: Int64) {
        let turn: DispatchSemaphore? = turns.withLock { turns in
            guard turns[position] != nil else {
                turns[position] = []
                return nil
            }
            let turn = DispatchSemaphore(value: 0)
            turns[position]?.append(turn)
            return turn
        }
        turn?.wait()
    }

    private func beginTurnIfFree(_ position: Int64) -> Bool {
        turns.withLock { turns in
            guard turns[position] == nil else { return false }
            turns[position] = []
            return true
        }
    }

    private func endTurn(_ position: Int64) {
        turns.withLock { turns in
            if let waiting = turns[position], !waiting.isEmpty {
                turns[position]?.removeFirst().signal()
            } else {
                turns[position] = nil
            }
        }
    }
}
