internal import PrefetchFileSystem
internal import PrefetchItemFormat
internal import Synchronization
internal import SystemPackage

/// The keys whose content this process is fetching, so that no other process fetches it at the same time.
///
/// A claim is the exclusive `flock` of an empty file in `incoming/`, which is removed with the claim. It ends with its
/// process; what a killed process leaves is removed when the cache is next opened. Where the file system has no locks,
/// nothing is excluded.
final class FetchClaims: Sendable {
    private struct State: Sendable {
        var isClosed = false
        var claims: [KeyHash: FetchClaim] = [:]
    }

    fileprivate let environment: CacheEnvironment
    private let folders: CacheFolders
    private let state = UnfairMutex(State())

    init(_ environment: CacheEnvironment, folders: CacheFolders) {
        self.environment = environment
        self.folders = folders
    }

    /// Claims a key, without waiting.
    func claim(_ hash: KeyHash) throws(CacheError) -> FetchClaimOutcome {
        do throws(CacheError) {
            return try claimNow(hash)
        } catch {
            // The folder has been purged.
            guard case .fileSystem(let reason) = error, reason.isNotFound, try folders.repair() else {
                throw error
            }
            return try claimNow(hash)
        }
    }

    private func claimNow(_ hash: KeyHash) throws(CacheError) -> FetchClaimOutcome {
        let incoming = folders.current.incoming
        return try state.withLock { state throws(CacheError) in
            if state.isClosed { throw .closed }
            if state.claims[hash] != nil { return .heldElsewhere }
            let name = CacheLayout.claim(of: hash)
            do throws(FileSystemError) {
                let mode = OpenMode.createIfMissing(CacheLayout.filePermissions)
                switch try LockFile.lock(name, in: incoming, mode) {
                case .busy: return .heldElsewhere
                case .absent: return .unsupported
                case .locked(let file):
                    let claim = FetchClaim(hash, file, in: incoming, of: self)
                    state.claims[hash] = claim
                    return .claimed(claim)
                }
            } catch {
                guard error.isHardLinked else { throw .fileSystem(error) }
                return .unsupported
            }
        }
    }

    fileprivate func holds(_ claim: FetchClaim) -> Bool {
        state.withLock { $0.claims[claim.hash] === claim }
    }

    /// Does nothing for a claim that has ended.
    fileprivate func release(_ claim: FetchClaim) {
        let isHeld = state.withLock { state in
            guard state.claims[claim.hash] === claim else { return false }
            state.claims[claim.hash] = nil
            return true
        }
        if isHeld { Self.remove(CacheLayout.claim(of: claim.hash), claim.file, in: claim.incoming) }
    }

    /// When whoever holds the claim of a key last showed that it receives something, in nanoseconds since 1970; `nil` if
    /// nobody does, or it is not known.
    func lastSign(of hash: KeyHash) throws(CacheError) -> Int64? {
        let incoming = folders.current.incoming
        return try onFiles(
            ifPresent { () throws(FileSystemError) in
                try incoming.fileSystem.withFile(CacheLayout.claim(of: hash), in: incoming.descriptor, .read)
                {
                    file throws(FileSystemError) in try incoming.fileSystem.accessTime(of: file)
                }
            }) ?? nil
    }

    /// Whether a process, this one or another, is fetching the content of a key.
    func isHeld(_ hash: KeyHash) throws(CacheError) -> Bool {
        if state.withLock({ $0.claims[hash] != nil }) { return true }
        let incoming = folders.current.incoming
        do {
            return try incoming.fileSystem.isLocked(CacheLayout.claim(of: hash), in: incoming)
        } catch {
            throw .fileSystem(error)
        }
    }

    /// Releases all claims, and grants no more.
    func close() {
        let claims = state.withLock { state in
            state.isClosed = true
            return state.claims.values
        }
        for claim in claims { release(claim) }
    }

    /// Removes the claims of processes that have died.
    static func sweep(_ incoming: Directory) throws(FileSystemError) {
        for entry in try incoming.fileSystem.entries(of: incoming.descriptor)
        where CacheLayout.isClaim(entry.name) {
            let name = FilePath(root: nil, [entry.name])
            if case .locked(let file) = try LockFile.lock(name, in: incoming) {
                remove(name, file, in: incoming)
            }
        }
    }

    /// Removes the file first: whoever has opened it finds that when it is unlocked. One that stays is an empty file without
    /// a lock.
    private static func remove(_ name: FilePath, _ file: Descriptor, in incoming: Directory) {
        defer { incoming.fileSystem.unlock(file) }
        do {
            // Otherwise the name may be another's by now.
            guard try incoming.fileSystem.attributes(of: file).linkCount > 0 else { return }
            try incoming.fileSystem.unlink(name, in: incoming.descriptor)
        } catch {
            // Purged with its folder, or left to the next sweep.
        }
    }
}

/// The right to fetch the content of a key, until it is released, or the cache is suspended or closed.
package final class FetchClaim: Sendable {
    fileprivate let hash: KeyHash
    fileprivate let file: Descriptor
    fileprivate let incoming: Directory
    private let claims: FetchClaims
    private let lastSign = UnfairMutex<Duration?>(nil)

    fileprivate init(_ hash: KeyHash, _ file: Descriptor, in incoming: Directory, of claims: FetchClaims) {
        self.hash = hash
        self.file = file
        self.incoming = incoming
        self.claims = claims
    }

    func release() { claims.release(self) }

    /// How often a claim shows that something is received: far more often than those who wait give up.
    private static let interval = Duration.seconds(5)

    /// Shows those who wait, by the access time of the claim's file, that something is received.
    package func showLife() {
        let uptime = claims.environment.uptime()
        let isDue = lastSign.withLock { last in
            if let last, uptime - last < Self.interval { return false }
            last = uptime
            return true
        }
        guard isDue, isHeld else { return }
        do {
            try incoming.fileSystem.setTimes(
                accessed: claims.environment.now() * 1_000_000, modified: nil, of: file)
        } catch {
            // They may begin a download of their own.
        }
    }

    var isHeld: Bool { claims.holds(self) }
}

/// Whether a key could be claimed.
package enum FetchClaimOutcome: Sendable {
    case claimed(FetchClaim)
    /// The file system has no locks.
    case unsupported
    /// By another process, or by another downloader of this one.
    case heldElsewhere
}

extension PrefetchCache {
    /// Claims a key for the time in which its content is fetched.
    package func claim(_ key: ItemKey) async throws(CacheError) -> FetchClaimOutcome {
        try await run { engine throws(CacheError) in try engine.claims.claim(key.hash) }
    }

    /// When whoever has claimed a key last showed that it receives something: see ``FetchClaim/showLife()``.
    package func lastSignOfFetch(_ key: ItemKey) async throws(CacheError) -> Int64? {
        try await run { engine throws(CacheError) in try engine.claims.lastSign(of: key.hash) }
    }
}
