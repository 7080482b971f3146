internal import Foundation
package import PrefetchFileSystem
package import SystemPackage

/// The operating system's own file system.
package let live = LiveFileSystem()

/// A real folder that lives as long as this object, and so as the suite's instance for one test. Its
/// helpers go past the seam, so that they can judge it.
package final class TemporaryFolder: Sendable {
    package let path: FilePath
    package let directory: Directory

    package var descriptor: Descriptor { directory.descriptor }

    package init() throws {
        path = FilePath(NSTemporaryDirectory()).appending("PrefetchCacheTests-\(UUID().uuidString)")
        directory = try Directory.openOrCreate(path, permissions: .ownerReadWriteExecute, in: live)
    }

    /// Whether the file system of such a folder takes a call on it.
    package static func can(_ call: (Descriptor) throws(FileSystemError) -> Void) -> Bool {
        do {
            let folder = try TemporaryFolder()
            try withExtendedLifetime(folder) { try call(folder.descriptor) }
            return true
        } catch {
            return false
        }
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path.string)
        } catch {
            print("left behind: \(path) (\(error))")
        }
    }

    package func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path.appending(name).string))
    }

    /// The content of a file, or `nil` when there is none.
    package func text(of name: String) throws -> String? {
        let file = path.appending(name).string
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        return String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
    }

    package func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: path.appending(name).string, withIntermediateDirectories: true)
    }

    package func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: path.appending(name).string, withDestinationPath: target)
    }

    package func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: path.string))
    }
}
