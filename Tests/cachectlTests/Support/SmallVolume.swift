import FileSystemTestSupport
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
        do {
            try Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", root.path)
        } catch {
            // Where mounting fails the folder is empty.
            try FileManager.default.removeItem(at: root)
            throw error
        }
    }

    deinit {
        do {
            try Self.run("/bin/umount", "-l", root.path)
            try FileManager.default.removeItem(at: root)
        } catch {
            print("left behind: \(root.path) (\(error))")
        }
    }

    /// Writes until not a byte is free.
    func fill() throws {
        // `dd` fails when the volume is full: that is what it is here for.
        let process = ChildProcess()
        process.executableURL = URL(filePath: "/bin/dd")
        process.arguments = ["if=/dev/zero", "of=\(root.appending(path: "filler").path)", "bs=4096"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let values = try FileManager.default.attributesOfFileSystem(forPath: root.path)
        try #require(values[.systemFreeSize] as? Int == 0)
    }

    private static func run(_ command: String, _ arguments: String...) throws {
        let process = ChildProcess()
        process.executableURL = URL(filePath: command)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
