import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The attributes of a file. `stat` is called directly, because Foundation does not report on every
/// platform how much of the volume a file takes.
struct FileFacts: Hashable, Sendable {
    enum Kind {
        case regular, folder, other
    }

    let kind: Kind
    let inode: UInt64
    /// Bytes of content.
    let length: Int64
    /// Bytes of the volume that the file takes.
    let allocated: Int64
    /// Seconds since 1970.
    let modified: Int
    let modifiedNanoseconds: Int

    /// Reads the attributes without following a symbolic link.
    ///
    /// - Returns: `nil` when the file does not exist, or may not be examined.
    init?(of file: URL) {
        var facts = stat()
        guard lstat(file.path(percentEncoded: false), &facts) == 0 else { return nil }
        kind =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            default: .other
            }
        inode = UInt64(facts.st_ino)
        length = Int64(facts.st_size)
        // POSIX leaves the unit open; it is 512 on Linux and Darwin, whatever the block size.
        allocated = Int64(facts.st_blocks) * 512
        #if canImport(Darwin)
            let time = facts.st_mtimespec
        #else
            let time = facts.st_mtim
        #endif
        modified = time.tv_sec
        modifiedNanoseconds = time.tv_nsec
    }

    /// Bytes of the volume that all files below a folder take.
    static func allocated(below folder: URL) throws -> Int64 {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
        let files = names.compactMap { FileFacts(of: folder.appending(path: $0)) }
        return files.filter { $0.kind == .regular }.reduce(0) { $0 + $1.allocated }
    }
}
