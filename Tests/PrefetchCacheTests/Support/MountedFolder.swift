import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import Testing

/// A folder in which something else is mounted, until the test lets go of it.
final class MountedFolder: Sendable {
    enum Kind: Sendable, CaseIterable {
        /// A volume of its own.
        case tmpfs
        /// Another folder of the same volume, with the same device number.
        case bind
    }

    /// Whether anything can be mounted here, found out by doing it.
    static let isPossible: Bool = {
        #if os(Linux)
            guard LiveFileSystem().userID == 0 else { return false }
            do {
                let container = try TemporaryContainer()
                return try withExtendedLifetime(container) {
                    _ = try MountedFolder(.bind, at: container.root.appending(path: "probe"))
                    return true
                }
            } catch {
                return false
            }
        #else
            false
        #endif
    }()

    private let path: String

    /// Makes the folder and mounts something in it.
    init(_ kind: Kind, at folder: URL) throws {
        path = folder.path
        try folder.makeFolder()
        switch kind {
        case .tmpfs: try SystemCommand.run("/bin/mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", path)
        case .bind:
            let origin = folder.deletingLastPathComponent()
                .appending(path: "origin of \(folder.lastPathComponent)")
            try origin.makeFolder()
            try SystemCommand.run("/bin/mount", "--bind", origin.path, path)
        }
    }

    deinit {
        do {
            try SystemCommand.run("/bin/umount", "-l", path)
        } catch {
            print("left behind: \(path) (\(error))")
        }
    }
}
