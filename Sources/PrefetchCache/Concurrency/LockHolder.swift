internal import FileSystem
internal import SystemPackage

/// The process that holds a lock, as far as the system tells: Linux does, in `/proc/locks`.
///
/// See ``CacheError/busy(_:by:)``.
public struct LockHolder: Hashable, Sendable {
    /// The number of the process.
    public let processID: Int32
    /// The name of its program.
    public let name: String

    /// Finds who holds a lock on one of several files. None is opened: closing a database would release the locks of
    /// this process on it.
    ///
    /// - Parameter names: In `folder`.
    static func of(_ names: [FilePath], in folder: Directory) -> LockHolder? {
        let fileSystem = folder.fileSystem
        let files = Set(
            names.compactMap { name in
                attempt { () throws(FileSystemError) in
                    try fileSystem.attributes(of: name, in: folder.descriptor)?.identity
                } ?? nil
            })
        guard !files.isEmpty, let locks = text("/proc/locks", limit: 1 << 20, fileSystem) else { return nil }
        for line in locks.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 4711 fd:00:1234 0 EOF; "->" stands before the kind where a process waits.
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] != "->", let process = Int32(words[4]), process > 0,
                let file = FileAttributes.Identity(procLocks: words[5]), files.contains(file)
            else { continue }
            let name = text(FilePath("/proc/\(process)/comm"), limit: 64, fileSystem) ?? ""
            return LockHolder(
                processID: process, name: String(name.prefix { !$0.isNewline }))
        }
        return nil
    }

    private static func text(_ path: FilePath, limit: Int, _ fileSystem: any FileSystem) -> String? {
        attempt { () throws(FileSystemError) in
            String(
                decoding: try fileSystem.contents(ofStream: path, in: .workingDirectory, limit: limit),
                as: UTF8.self)
        }
    }

    /// Who holds the lock is worth a try: an error here must not replace the one that is explained.
    private static func attempt<Result>(_ body: () throws(FileSystemError) -> Result) -> Result? {
        do {
            return try body()
        } catch {
            return nil
        }
    }
}

extension FileAttributes.Identity {
    /// `MAJOR:MINOR:INODE`, the first two in hexadecimal.
    fileprivate init?(procLocks text: Substring) {
        let parts = text.split(separator: ":")
        guard parts.count == 3, let major = UInt64(parts[0], radix: 16),
            let minor = UInt64(parts[1], radix: 16), let inode = UInt64(parts[2])
        else { return nil }
        // As `makedev` puts them together.
        let device =
            (major & 0xFFF) << 8 | (major & 0xFFFF_F000) << 32 | minor & 0xFF | (minor & 0xFFFF_FF00) << 12
        self.init(device: device, inode: inode)
    }
}

extension CacheError {
    /// The lock of `what` was not to be had in time.
    static func busy(_ what: String, _ names: [FilePath], in folder: Directory) -> CacheError {
        .busy(what, by: LockHolder.of(names, in: folder))
    }
}
