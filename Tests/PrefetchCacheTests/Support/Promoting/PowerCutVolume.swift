import Foundation
import PrefetchFileSystem

/// A real volume whose power can be cut, and which comes back as its journal has it. Its image is a file in
/// memory: what the file system handed to its device is there after the cut, the rest is not.
///
/// Used by one thread.
final class PowerCutVolume {
    enum Kind: String, CaseIterable, Sendable {
        case ext4, xfs

        /// The smallest that is not refused. The image is sparse.
        fileprivate var megabytes: Int { self == .ext4 ? 64 : 320 }

        /// Whether one can be made and mounted here, found out by doing it.
        var isPossible: Bool {
            guard LiveFileSystem().userID == 0 else { return false }
            do {
                try PowerCutVolume(self).remount()
                return true
            } catch {
                return false
            }
        }
    }

    let root: URL
    private let kind: Kind
    private let image: URL

    init(_ kind: Kind) throws {
        self.kind = kind
        let name = "PrefetchCacheTests-\(UUID().uuidString)"
        root = FileManager.default.temporaryDirectory.appending(path: name, directoryHint: .isDirectory)
        image = URL.fastTemporaryFolder.appending(path: "\(name).img")
        try root.makeFolder()
        do {
            try SystemCommand.run("/usr/bin/truncate", "-s", "\(kind.megabytes)M", image.path)
            switch kind {
            case .ext4: try SystemCommand.run("/usr/sbin/mkfs.ext4", "-q", "-F", "-j", image.path)
            case .xfs: try SystemCommand.run("/usr/sbin/mkfs.xfs", "-q", "-f", image.path)
            }
            try mount()
        } catch {
            removeFiles()
            throw error
        }
    }

    deinit {
        do {
            try SystemCommand.run("/bin/umount", "-l", root.path)
        } catch {
            print("left mounted: \(root.path) (\(error))")
        }
        removeFiles()
    }

    private func removeFiles() {
        do {
            for file in [root, image] where file.exists { try file.remove() }
        } catch {
            print("left behind: \(root.path) (\(error))")
        }
    }

    private func mount() throws {
        try SystemCommand.run("/bin/mount", "-t", kind.rawValue, "-o", "loop", image.path, root.path)
    }

    /// Makes all that was written durable.
    func flush() throws { try SystemCommand.run("/bin/sync", "-f", root.path) }

    /// What the machine does at its start: the journal is replayed.
    func remount() throws {
        try unmount(attempts: 2000)
        try mount()
    }

    /// Not lazily: what is still mounted would replay nothing. A process that somebody else is just starting
    /// has our open files until it becomes another program.
    private func unmount(attempts: Int) throws {
        for _ in 1..<attempts {
            do {
                return try SystemCommand.run("/bin/umount", root.path)
            } catch {
                continue
            }
        }
        try SystemCommand.run("/bin/umount", root.path)
    }
}
