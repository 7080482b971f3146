import FileSystem
import Foundation
import SystemPackage
import Testing

@testable import PrefetchCache

/// A real volume with no byte free. Mounting one needs root; elsewhere the suite is skipped.
@Suite(.enabled(if: SmallVolume.isPossible, "Mounting a tmpfs needs root on Linux."))
struct FullVolumeTests {
    @Test func evictionAndReadingAndStatisticsStillWork() throws {
        let volume = try SmallVolume(megabytes: 6)
        let container = try TemporaryContainer(in: volume.root)
        let engine = try container.engine(probe: nil)
        for number in 0..<8 {
            try engine.store(noise(300_000, seed: UInt64(number)), ItemKey(number: number))
        }
        try engine.flush()
        try volume.fill()

        #expect(try engine.content(ItemKey(number: 7)) == noise(300_000, seed: 7))
        #expect(try engine.store(noise(300_000), "new") == .refused(.pressure(.critical)))
        let incoming = try container.files(below: container.caches.appending(path: "incoming"))
        #expect(incoming.allSatisfy { $0.hasSuffix(".lock") })

        #expect(try engine.statistics().items <= 8)
        _ = try engine.evict(.max)
        #expect(try engine.statistics().items == 0)
        #expect(try container.chargedOnDisk() == 0)
    }
}

/// A tmpfs of a few megabytes, unmounted when the test lets go of it.
private final class SmallVolume {
    let root: URL

    static var isPossible: Bool {
        #if os(Linux)
            LiveFileSystem().userID == 0
        #else
            false
        #endif
    }

    init(megabytes: Int) throws {
        root = FileManager.default.temporaryDirectory.appending(
            path: "PrefetchCacheTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        try Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", root.path)
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
        let live = LiveFileSystem()
        let path = FilePath(root.appending(path: "filler").path)
        try live.withFile(path, in: .workingDirectory, .createNew(.ownerReadWrite)) {
            file throws(FileSystemError) in
            var offset: Int64 = 0
            let block = [UInt8](repeating: 0x55, count: 4096)
            while true {
                do throws(FileSystemError) {
                    try live.writeAll(block, to: file, at: offset)
                } catch {
                    if error.isOutOfSpace { return }
                    throw error
                }
                offset += 4096
            }
        }
    }

    private static func run(_ command: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: command)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
