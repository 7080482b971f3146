import Foundation
import PrefetchFileSystem
import Synchronization
import SystemPackage

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Puts things of its own in the place of files and folders of a container, and owns a folder outside of it that
/// nobody may touch.
final class Attacker: Sendable {
    enum Object: String, CaseIterable {
        case linkToFile, linkToFolder, linkToNobody, hardLink, folder, pipe
    }

    private let outside: TemporaryContainer
    private let attic: TemporaryContainer
    private let before: [String]
    private let planted = Mutex<Identity?>(nil)

    private struct Identity: Equatable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    init() throws {
        // On the volume of the container: elsewhere nothing can be renamed or linked to.
        outside = try TemporaryContainer(in: .fastTemporaryFolder)
        attic = try TemporaryContainer(in: .fastTemporaryFolder)
        try outside.root.appending(path: "folder/incoming").makeFolder()
        for name in ["file", "folder/file"] {
            try Data("secret".utf8).write(to: outside.root.appending(path: name))
        }
        before = try Self.picture(of: outside.root)
    }

    /// What is outside now and was not, or was otherwise.
    func harm() throws -> [String] {
        let now = try Self.picture(of: outside.root)
        return Set(now).symmetricDifference(before).sorted()
    }

    /// Takes away what is at `path`, and puts `object` there.
    /// - Returns: Whether it could.
    func replace(_ path: String, with object: Object) -> Bool {
        guard put(object, at: path) else { return false }
        planted.withLock { $0 = Self.identity(of: path) }
        return true
    }

    /// Takes away again what was planted, wherever below a folder it has come by now.
    func clearUp(below folder: URL) throws {
        guard let identity = planted.withLock({ $0 }) else { return }
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let path = folder.appending(path: name).path
            if Self.identity(of: path) == identity { try FileManager.default.removeItem(atPath: path) }
        }
    }

    private static func identity(of path: String) -> Identity? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return Identity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    }

    private func put(_ object: Object, at path: String) -> Bool {
        // Renamed, not removed: who has it open goes on with it.
        _ = rename(path, attic.root.appending(path: UUID().uuidString).path)
        let target = FilePath(outside.root.path)
        switch object {
        case .linkToFile: return symlink(target.appending("file").string, path) == 0
        case .linkToFolder: return symlink(target.appending("folder").string, path) == 0
        case .linkToNobody: return symlink(target.appending("nobody").string, path) == 0
        case .hardLink: return link(target.appending("file").string, path) == 0
        case .folder: return mkdir(path, 0o700) == 0
        case .pipe: return mkfifo(path, 0o600) == 0
        }
    }

    /// A line for everything in a folder: name, mode, time of the last change, marks and content.
    private static func picture(of folder: URL) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try names.map { name in
            let path = folder.appending(path: name).path
            var status = stat()
            guard lstat(path, &status) == 0 else { return "\(name): errno \(errno)" }
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            // Of a folder it tells also what was made in it and is gone again.
            var line = "\(name): mode \(status.st_mode), length \(status.st_size), "
            line += "modified \(time.tv_sec).\(time.tv_nsec)"
            guard status.st_mode & S_IFMT == S_IFREG else { return line }
            line += ", marks \(try marks(of: path))"
            return line + ", content \(try Data(contentsOf: URL(filePath: path)).base64EncodedString())"
        }
    }

    private static func marks(of path: String) throws -> Bool {
        try LiveFileSystem().withFile(FilePath(path), in: .workingDirectory, .read) {
            file throws(FileSystemError) in
            try LiveFileSystem().extendedAttribute("user.xdg.robots.backup", of: file) != nil
        }
    }
}
