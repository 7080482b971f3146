import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

#if os(Linux)
    /// What this process holds of a container, as the kernel tells it.
    struct HeldFiles {
        /// Open files, folders not counted.
        var files: Set<String> = []
        /// Locks of any kind, by file: those of `/proc/self/fdinfo`, and those of `/proc/locks`.
        var locks: Set<String> = []

        var isEmpty: Bool { files.isEmpty && locks.isEmpty }

        init(of container: TemporaryContainer) throws {
            let root = container.root.path + "/"
            for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
                // Those of other tests come and go.
                guard let file = Self.target(of: descriptor), file.hasPrefix(root) else { continue }
                let attributes = try LiveFileSystem().attributes(of: FilePath(file), in: .workingDirectory)
                if attributes?.kind != .directory { files.insert(String(file.dropFirst(root.count))) }
                let details = FileManager.default.contents(atPath: "/proc/self/fdinfo/\(descriptor)")
                if String(decoding: details ?? Data(), as: UTF8.self).contains("\nlock:") {
                    locks.insert(String(file.dropFirst(root.count)))
                }
            }
            let inodes = try Self.inodes(below: container.root)
            let list = try LiveFileSystem().contents(
                ofStream: "/proc/locks", in: .workingDirectory, limit: 1 << 22)
            for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
                // 1: FLOCK ADVISORY WRITE 4711 fd:00:1234 0 EOF; an open-file lock has no process.
                let words = line.split(separator: " ")
                guard words.count > 5, ["\(getpid())", "-1"].contains(words[4]),
                    let inode = words[5].split(separator: ":").last.flatMap({ UInt64($0) }),
                    let name = inodes[inode]
                else { continue }
                locks.insert(name)
            }
        }

        private static func target(of descriptor: String) -> String? {
            do {
                return try FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/fd/\(descriptor)")
            } catch {
                return nil
            }
        }

        private static func inodes(below root: URL) throws -> [UInt64: String] {
            var inodes: [UInt64: String] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: root.path) + ["."] {
                let path = FilePath(root.appending(path: name).path)
                if let file = try LiveFileSystem().attributes(of: path, in: .workingDirectory) {
                    inodes[file.identity.inode] = name
                }
            }
            return inodes
        }
    }
#endif
