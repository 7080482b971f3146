import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A tmpfs of a few megabytes, unmounted when the test lets go of it.
final class SmallVolume: Sendable {
    let root: URL

    /// Mounting needs root on Linux.
    static var isPossible: Bool {
        #if os(Linux)
            geteuid() == 0
        #else
            false
        #endif
    }

    init(megabytes: Int) throws {
        root = FileManager.default.temporaryDirectory.appending(
            path: "cachectlTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
        let mounted = try Tool.start(
            "/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", root.path],
            in: TemporaryFolder())
        try #require(mounted.status == 0, "\(mounted.errors)")
    }

    deinit {
        do {
            _ = try Tool.start("/bin/umount", ["-l", root.path], in: TemporaryFolder())
            try FileManager.default.removeItem(at: root)
        } catch {
            print("left behind: \(root.path) (\(error))")
        }
    }

    /// Writes until not a byte is free.
    func fill() throws {
        // `dd` fails when the volume is full: that is what it is here for.
        let filler = root.appending(path: "filler").path
        _ = try Tool.start("/bin/dd", ["if=/dev/zero", "of=\(filler)", "bs=4096"], in: TemporaryFolder())
        let values = try FileManager.default.attributesOfFileSystem(forPath: root.path)
        try #require(values[.systemFreeSize] as? Int == 0)
    }
}
