internal import FileSystem
internal import SystemPackage

/// The process that holds a lock, as far as the system tells: Linux does, in `/proc`.
///
/// See ``CacheError/busy(_:by:)``.
public struct LockHolder: Hashable, Sendable {
    /// The number of the process.
    public let processID: Int32
    /// The name of its program.
    public let name: String
    /// Whether it is stopped, by a signal or a debugger. A process that a freezer holds does not seem so.
    public let isStopped: Bool

    /// Finds who holds a lock on one of several files: who is stopped, if there is more than one. None of the files is
    /// opened: closing a database would release the locks of this process on it.
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
        var holder: LockHolder?
        for line in locks.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 4711 fd:00:1234 0 EOF; "->" stands before the kind where a process waits.
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] != "->", let process = Int32(words[4]), process > 0,
                let file = FileAttributes.Identity(procLocks: words[5]), files.contains(file),
                let status = text(FilePath("/proc/\(process)/stat"), limit: 4096, fileSystem),
                let found = LockHolder(process, procStat: status)
            else { continue }
            if found.isStopped { return found }
            holder = holder ?? found
        }
        return holder
    }

    /// - Parameter text: `4711 (program) S` and much more. The name may contain anything.
    private init?(_ process: Int32, procStat text: String) {
        guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")"), start < end else {
            return nil
        }
        processID = process
        name = String(text[text.index(after: start)..<end])
        isStopped = ["T", "t"].contains(text[end...].dropFirst(2).first)
    }

    /// Whether who holds a lock is known not to be stopped.
    static func isRunning(_ names: [FilePath], in folder: Directory) -> Bool {
        #if canImport(Darwin)
            // Nothing tells. An app that the system suspends while it holds a lock is ended, so its locks are free.
            true
        #else
            of(names, in: folder)?.isStopped == false
        #endif
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
