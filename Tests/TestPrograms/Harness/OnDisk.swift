internal import Foundation
internal import PrefetchCaching

/// The regular files below a folder, as anybody finds them.
struct OnDisk {
    private(set) var files = 0
    private(set) var bytes: Int64 = 0
    /// What a cache on such a volume charges for them.
    private(set) var charged: Int64 = 0

    init(_ folder: URL) throws {
        var volume = statvfs()
        guard statvfs(folder.path, &volume) == 0 else { return }
        let charge = ChargedLength(blockSize: Int64(volume.f_frsize))
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            var status = stat()
            // It may have gone meanwhile.
            guard lstat("\(folder.path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                continue
            }
            files += 1
            bytes += Int64(status.st_size)
            charged += charge(storedBytes: Int64(status.st_size))
        }
    }
}
