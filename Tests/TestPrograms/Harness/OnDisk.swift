internal import Foundation
internal import PrefetchCaching

/// The regular files below a folder, as anybody finds them.
struct OnDisk {
    private(set) var files = 0
    private(set) var bytes: Int64 = 0
    /// What a cache on such a volume charges for them.
    private(set) var charged: Int64 = 0
    private(set) var paths: [String] = []

    init(_ folder: URL) throws {
        var volume = statvfs()
        guard statvfs(folder.path, &volume) == 0 else { return }
        let charge = ChargedLength(blockSize: Int64(volume.f_frsize))
        try walk(folder.path, charge)
    }

    private mutating func walk(_ path: String, _ charge: ChargedLength) throws {
        guard let folder = opendir(path) else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            var status = stat()
            // It may have gone meanwhile.
            guard lstat("\(path)/\(name)", &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try walk("\(path)/\(name)", charge)
            case S_IFREG:
                files += 1
                bytes += Int64(status.st_size)
                charged += charge(storedBytes: Int64(status.st_size))
                paths.append("\(path)/\(name)")
            default: break
            }
        }
    }
}
