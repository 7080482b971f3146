#if canImport(Darwin)
    internal import FileSystem
    internal import Foundation
    internal import SystemPackage

    /// `NSFileCoordinator`, which the daemon of iCloud Drive and other apps respect.
    ///
    /// - Important: Written from the documentation, and never run.
    struct SystemFileCoordinator: FileCoordinating {
        func coordinate(
            _ access: CoordinatedAccess, at path: FilePath, _ body: () -> Void
        ) throws(FileSystemError) {
            // One per access: a shared coordinator would treat its own accesses as related.
            let coordinator = NSFileCoordinator(filePresenter: nil)
            let url = URL(filePath: path.string)
            var failure: NSError?
            switch access {
            case .publish:
                coordinator.coordinate(writingItemAt: url, options: .forReplacing, error: &failure) { _ in
                    body()
                }
            case .write:
                // Not `.forReplacing`, which counts as deleting: apps that show the file would close it.
                coordinator.coordinate(writingItemAt: url, options: [], error: &failure) { _ in body() }
            case .readContent:
                coordinator.coordinate(readingItemAt: url, options: .withoutChanges, error: &failure) { _ in
                    body()
                }
            case .readMetadata:
                // Downloads nothing: checking for a file does not need its content.
                coordinator.coordinate(
                    readingItemAt: url, options: [.withoutChanges, .immediatelyAvailableMetadataOnly],
                    error: &failure
                ) { _ in body() }
            }
            if let failure {
                throw FileSystemError("NSFileCoordinator", path: path, errno: Self.reason(of: failure))
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
