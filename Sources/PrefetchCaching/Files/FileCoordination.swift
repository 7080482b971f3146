package import PrefetchFileSystem
package import SystemPackage

#if canImport(Darwin)
    internal import Foundation
#endif

/// Coordinates the cache with the other users of iCloud Drive: the system uploads, downloads and moves files
/// there while the app runs.
///
/// The cache coordinates its access at or below the root of ``Area/iCloudDrive``, and nothing else. Meanwhile it holds
/// at most the lock of an item's key; until the body has returned it takes no lock and does not use the ledger; and it
/// never nests coordinated accesses. So an implementation may wait for others, as long as those do not wait for the
/// cache.
package protocol FileCoordinating: Sendable {
    /// Runs `body` once, on this thread, while no coordinated access that `access` excludes is under way at `path`.
    ///
    /// The body uses the path that it asked for. If the entry is moved while this waits, access is asked for anew: what
    /// was moved is the user's.
    ///
    /// - Parameter path: An absolute path. It need not exist.
    /// - Throws: The reason why access was not granted, `ECANCELED` when the task was cancelled while this waited
    ///   (``Cancellation``). The body was not run in that case.
    func coordinate(
        _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
    ) throws(FileSystemError)
}

/// What a coordinated body does with the entry at its path.
package enum CoordinatedAccess: Sendable, Hashable {
    /// Gives a new file this name, or adopts the file that has it. Excludes all others.
    case publish
    /// Removes the file that has this name. Excludes all others.
    case delete
    /// Creates a folder, or makes something durable; removes nothing. Excludes all others.
    case write
    /// Reads the content, which has to be on this device. Excludes writers.
    case readContent
    /// Reads whether the entry exists, and its attributes. Excludes writers.
    case readMetadata
}

#if canImport(Darwin)
    /// `NSFileCoordinator`, which the daemon of iCloud Drive and other apps respect.
    ///
    /// - Important: Written from the documentation, and never run.
    struct SystemFileCoordinator: FileCoordinating {
        func coordinate(
            _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
        ) throws(FileSystemError) {
            let url = URL(filePath: path.string)
            // An entry that moves each time would be waited for forever.
            for _ in 0..<8 {
                var isGranted = false
                try coordinate(access, at: url, path) { granted in
                    isGranted = granted.standardizedFileURL == url.standardizedFileURL
                    if isGranted { body() }
                }
                if isGranted { return }
            }
            throw FileSystemError("NSFileCoordinator", path: path, errno: .staleNFSFileHandle)
        }

        /// - Parameter body: Receives where the entry is now.
        private func coordinate(
            _ access: CoordinatedAccess, at url: URL, _ path: FilePath, _ body: (URL) -> Void
        ) throws(FileSystemError) {
            // One per access: a shared coordinator would treat its own accesses as related.
            // Not `Sendable`, but documented: `cancel()` may be called from any thread.
            nonisolated(unsafe) let coordinator = NSFileCoordinator(filePresenter: nil)
            var failure: NSError?
            let isCancelled = Cancellation.ending(by: { coordinator.cancel() }) {
                switch access {
                case .publish:
                    coordinator.coordinate(
                        writingItemAt: url, options: .forReplacing, error: &failure, byAccessor: body)
                case .delete:
                    coordinator.coordinate(
                        writingItemAt: url, options: .forDeleting, error: &failure, byAccessor: body)
                case .write:
                    // Not `.forReplacing`, which counts as deleting: apps that show the file would close it.
                    coordinator.coordinate(
                        writingItemAt: url, options: [], error: &failure, byAccessor: body)
                case .readContent:
                    coordinator.coordinate(
                        readingItemAt: url, options: .withoutChanges, error: &failure, byAccessor: body)
                case .readMetadata:
                    // Downloads nothing: checking for a file does not need its content.
                    coordinator.coordinate(
                        readingItemAt: url, options: [.withoutChanges, .immediatelyAvailableMetadataOnly],
                        error: &failure, byAccessor: body)
                }
            }
            if let failure {
                let reason = isCancelled ? .canceled : Self.reason(of: failure)
                throw FileSystemError("NSFileCoordinator", path: path, errno: reason)
            }
        }

        private static func reason(of error: NSError) -> Errno {
            if error.domain == NSPOSIXErrorDomain {
                return Errno(rawValue: CInt(truncatingIfNeeded: error.code))
            }
            if error.domain == NSCocoaErrorDomain, error.code == NSUserCancelledError { return .canceled }
            guard let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError else { return .ioError }
            return reason(of: underlying)
        }
    }
#endif
