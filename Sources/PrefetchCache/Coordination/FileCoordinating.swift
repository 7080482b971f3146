public import FileSystem
public import SystemPackage

/// Keeps the cache and the other users of iCloud Drive out of each other's way: the system uploads,
/// downloads and moves files there while the app runs.
///
/// The cache coordinates whatever it does at or below the root of ``Area/iCloudDrive``, and nothing
/// else. It holds the lock of an item's key while it does, or no lock at all, and takes none and leaves
/// the ledger alone until the body has returned; it never coordinates inside a body. So an implementation
/// may wait for others, as long as these do not wait for the cache.
public protocol FileCoordinating: Sendable {
    /// Runs `body` once, on this thread, while nobody who coordinates does at `path` what `access` rules
    /// out.
    ///
    /// The body goes by the path that was asked for, wherever its entry may have been moved meanwhile:
    /// it finds that out by itself.
    ///
    /// - Parameter path: Absolute. There may be nothing under it.
    /// - Throws: Why there is no access. The body has not run then.
    func coordinate(
        _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
    ) throws(FileSystemError)
}

/// What a coordinated body does with the entry at its path.
public enum CoordinatedAccess: Sendable, Hashable {
    /// Gives a new file this name, or adopts the one that has it. Rules everybody else out.
    case publish
    /// Creates a folder, or makes something durable; takes nothing away from anybody. Rules everybody else
    /// out.
    case write
    /// Reads its content, which has to be on this device. Rules writers out.
    case readContent
    /// Looks whether it is there, and what it is. Rules writers out.
    case readMetadata
}
