import FileSystem
import Foundation
import SystemPackage
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A real volume of a few megabytes, unmounted when the test lets go of it, and an outsider on it that
/// takes space and gives it back.
final class SmallVolume: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case tmpfs, ext4, xfs, btrfs

        /// The least that one can have.
        private var leastMegabytes: Int { self == .tmpfs || self == .ext4 ? 8 : 320 }

        /// Whether one can be mounted here, found out by doing it.
        fileprivate var isPossible: Bool {
            #if os(Linux)
                do {
                    _ = try SmallVolume(self, megabytes: leastMegabytes)
                    return true
                } catch {
                    return false
                }
            #else
                false
            #endif
        }
    }

    /// The kinds that there are on this machine: none for anybody but root.
    static let kinds = possible([.tmpfs, .ext4])
    /// The kinds that are on a device, some of which need 320 megabytes.
    static let fileSystems = possible([.ext4, .xfs, .btrfs])
    static let isPossible = !kinds.isEmpty

    private static func possible(_ kinds: [Kind]) -> [Kind] {
        LiveFileSystem().userID == 0 ? kinds.filter(\.isPossible) : []
    }

    private static let live = LiveFileSystem()

    let root: URL
    private let kind: Kind
    private let folder: Directory

    init(_ kind: Kind = .tmpfs, megabytes: Int) throws {
        self.kind = kind
        root = FileManager.default.temporaryDirectory.appending(
            path: "PrefetchCacheTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        do {
            try Self.mount(kind, megabytes, at: root)
        } catch {
            try FileManager.default.removeItem(at: root)
            throw error
        }
        folder = try Directory.openOrCreate(
            FilePath(root.path), permissions: .ownerReadWriteExecute, in: Self.live)
        try withFiller { _ in }
    }

    deinit {
        do {
            try SystemCommand.run("/bin/umount", "-l", root.path)
            try FileManager.default.removeItem(at: root)
        } catch {
            print("left behind: \(root.path) (\(error))")
        }
    }

    private static func mount(_ kind: Kind, _ megabytes: Int, at root: URL) throws {
        switch kind {
        case .tmpfs:
            try SystemCommand.run("/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", root.path)
        case .ext4, .xfs, .btrfs:
            let image = root.appendingPathExtension("img")
            // The mount keeps the image when its name is gone.
            defer { unlink(image.path) }
            try SystemCommand.run("/usr/bin/truncate", "-s", "\(megabytes)M", image.path)
            var options = "loop"
            switch kind {
            case .xfs: try SystemCommand.run("/usr/sbin/mkfs.xfs", "-q", image.path)
            case .btrfs: try SystemCommand.run("/usr/sbin/mkfs.btrfs", "-q", image.path)
            default:
                // Nothing is set aside for root, who runs this.
                try SystemCommand.run("/usr/sbin/mkfs.ext4", "-q", "-F", "-m", "0", image.path)
                options += ",errors=remount-ro"
            }
            try SystemCommand.run("/bin/mount", "-o", options, image.path, root.path)
        }
    }

    /// For a volume on which nothing is open for writing.
    func remount(isReadOnly: Bool) throws {
        try SystemCommand.run("/bin/mount", "-o", "remount,\(isReadOnly ? "ro" : "rw")", root.path)
    }

    /// Lets an ext4 volume find an error in itself: it takes no writes any more, whoever has files open on it.
    func becomeReadOnly() throws {
        var status = stat()
        guard stat(root.path, &status) == 0 else { throw Errno(rawValue: errno) }
        let device = FilePath("/sys/dev/block/\(status.st_dev >> 8 & 0xFFF):\(status.st_dev & 0xFF)")
        let name = URL(filePath: device.string).resolvingSymlinksInPath().lastPathComponent
        try Data("1".utf8).write(to: URL(filePath: "/sys/fs/ext4/\(name)/trigger_fs_error"))
    }

    var available: Int64 {
        get throws { try Self.live.volume(of: folder.descriptor).available }
    }

    private func withFiller(_ body: (Descriptor) throws(FileSystemError) -> Void) throws {
        try Self.live.withFile(
            "filler", in: folder.descriptor, .createIfMissing(.ownerReadWrite), body)
    }

    /// The outsider takes or gives back what it must for just `bytes` to be available, but for a few
    /// blocks of the file system's own.
    func leave(_ bytes: Int64) throws {
        for _ in 0..<4 {
            let excess = try available - bytes
            try withFiller { filler throws(FileSystemError) in
                let length = try Self.live.attributes(of: filler).allocated + excess
                if excess > 0 {
                    do throws(FileSystemError) {
                        try Self.live.allocate(length, for: filler)
                    } catch {
                        // The file system's own blocks, for the longer file, are not there.
                        guard error.isOutOfSpace else { throw error }
                        try Self.live.allocate(max(0, length - (64 << 10)), for: filler)
                    }
                    try Self.live.resize(filler, to: length)
                } else {
                    try Self.live.resize(filler, to: max(0, length))
                }
            }
        }
    }

    /// The outsider writes until not a byte is free.
    func fill() throws {
        try withFiller { filler throws(FileSystemError) in
            var offset = try Self.live.attributes(of: filler).length
            for block in [1 << 20, 4096, 1] {
                let bytes = [UInt8](repeating: 0x55, count: block)
                do throws(FileSystemError) {
                    while true {
                        try Self.live.writeAll(bytes, to: filler, at: offset)
                        offset += Int64(block)
                    }
                } catch {
                    guard error.isOutOfSpace else { throw error }
                    offset = try Self.live.attributes(of: filler).length
                }
            }
        }
    }
}
