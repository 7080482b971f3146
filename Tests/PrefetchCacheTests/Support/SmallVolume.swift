import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A real volume of a few megabytes, unmounted when the test lets go of it; an outsider on it that takes space and gives it
/// back; and its power, which can be cut.
final class SmallVolume: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case tmpfs, ext4
        case ext4WithoutJournal = "ext4 without a journal"
        case xfs, btrfs
        /// Its upper layer is an ext4.
        case overlay = "overlayfs"

        /// The smallest that is made, in megabytes: XFS and btrfs refuse smaller ones.
        var leastMegabytes: Int {
            switch self {
            case .tmpfs, .ext4, .ext4WithoutJournal, .overlay: 8
            case .btrfs: 128
            case .xfs: 320
            }
        }

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
    static let all = LiveFileSystem().userID == 0 ? Kind.allCases.filter(\.isPossible) : []
    /// Those that can be as small as one likes.
    static let kinds = all.filter { [.tmpfs, .ext4].contains($0) }
    /// Those that are on a device.
    static let fileSystems = all.filter { [.ext4, .xfs, .btrfs].contains($0) }
    static let isPossible = !kinds.isEmpty

    private static let live = LiveFileSystem()

    /// The folder that is used: that of the volume or, of an overlay, of what is above it.
    let root: URL
    private let base: URL
    /// Of a volume whose power can be cut: a file in memory.
    private let image: URL?

    /// - Parameters:
    ///   - options: Of the mount, beside those that every volume has.
    ///   - losesPower: Whether its power can be cut.
    init(
        _ kind: Kind = .tmpfs, megabytes: Int, options: String = "noatime", losesPower: Bool = false
    ) throws {
        base = FileManager.default.temporaryDirectory.appending(
            path: "PrefetchCacheTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        root = kind == .overlay ? base.appending(path: "merged") : base
        image =
            losesPower ? URL.fastTemporaryFolder.appending(path: "\(base.lastPathComponent).img") : nil
        try base.makeFolder()
        do {
            try Self.mount(kind, megabytes, options, at: base, image)
            if kind == .overlay { try Self.mountOverlay(in: base) }
        } catch {
            Self.unmount(root, base, image)
            throw error
        }
        if !losesPower { try withFiller { _ in } }
    }

    deinit { Self.unmount(root, base, image) }

    private static func unmount(_ root: URL, _ base: URL, _ image: URL?) {
        do {
            if root != base { try SystemCommand.run("/bin/umount", "-l", root.path) }
            try SystemCommand.run("/bin/umount", "-l", base.path)
        } catch {
            // It was not mounted.
        }
        do {
            try base.remove()
            try image?.remove()
        } catch {
            print("left behind: \(base.path) (\(error))")
        }
    }

    private static func mount(
        _ kind: Kind, _ megabytes: Int, _ options: String, at base: URL, _ kept: URL?
    ) throws {
        if kind == .tmpfs {
            let options = "size=\(megabytes)m,\(options)"
            return try SystemCommand.run("/bin/mount", "-t", "tmpfs", "-o", options, "tmpfs", base.path)
        }
        let image = kept ?? base.appendingPathExtension("img")
        // The mount keeps the image when its name is gone.
        defer { if kept == nil { unlink(image.path) } }
        try SystemCommand.run("/usr/bin/truncate", "-s", "\(megabytes)M", image.path)
        var options = options
        switch kind {
        case .tmpfs: break
        case .ext4, .overlay, .ext4WithoutJournal:
            let features = kind == .ext4WithoutJournal ? "^has_journal" : "has_journal"
            // Nothing is set aside for root, who runs this.
            try SystemCommand.run("/usr/sbin/mkfs.ext4", "-q", "-F", "-m", "0", "-O", features, image.path)
            options += ",errors=remount-ro"
        case .xfs: try SystemCommand.run("/usr/sbin/mkfs.xfs", "-q", "-f", image.path)
        // Mixed, as is usual for small ones: otherwise most of the space may end up with the metadata.
        case .btrfs: try SystemCommand.run("/usr/sbin/mkfs.btrfs", "-q", "-f", "--mixed", image.path)
        }
        try SystemCommand.run("/bin/mount", "-o", "loop,\(options)", image.path, base.path)
    }

    private static func mountOverlay(in base: URL) throws {
        for name in ["lower", "upper", "work", "merged"] {
            try FileManager.default.createDirectory(
                at: base.appending(path: name), withIntermediateDirectories: false)
        }
        try SystemCommand.run(
            "/bin/mount", "-t", "overlay", "-o",
            ["lower", "upper", "work"].map { "\($0)dir=\(base.path)/\($0)" }.joined(separator: ","),
            "overlay", base.appending(path: "merged").path)
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

    private var path: FilePath { FilePath(base.path) }

    var available: Int64 {
        get throws {
            try Self.live.withFile(path, in: .workingDirectory, .directory) {
                folder throws(FileSystemError) in try Self.live.volume(of: folder).available
            }
        }
    }

    /// Waits for what is freed later, and for all that was written to be durable.
    func settle() throws {
        try Self.live.withFile(path, in: .workingDirectory, .directory) {
            folder throws(FileSystemError) in try Self.live.synchronizeVolume(of: folder)
        }
    }

    /// What the machine does at its start after the power was cut: the journal is replayed. What the file system had handed
    /// to its device is there, the rest is not.
    func replayJournal() throws {
        // Not lazily: what is still mounted would replay nothing. A process that somebody else is just starting has our open
        // files until it becomes another program.
        for attempt in 1...2000 {
            do {
                try SystemCommand.run("/bin/umount", root.path)
                break
            } catch  where attempt < 2000 {
                continue
            }
        }
        try SystemCommand.run("/bin/mount", "-o", "loop", try #require(image).path, root.path)
    }

    private func withFiller(_ body: (Descriptor) throws(FileSystemError) -> Void) throws {
        try Self.live.withFile(
            path.appending("filler"), in: .workingDirectory, .createIfMissing(.ownerReadWrite), body)
    }

    /// The outsider takes or gives back what it must for just `bytes` to be available, but for a few
    /// blocks of the file system's own.
    func leave(_ bytes: Int64) throws {
        for _ in 0..<4 {
            try settle()
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

    /// The outsider creates files until no further one can be.
    func exhaustInodes() throws {
        let live = Self.live
        let names = try Directory.openOrCreate(
            FilePath(base.appending(path: "names").path), permissions: .ownerReadWriteExecute, in: live)
        do throws(FileSystemError) {
            for number in 0... {
                try live.withFile(
                    FilePath("\(number)"), in: names.descriptor, .createNew(.ownerReadWrite)
                ) { _ in }
            }
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
    }
}
