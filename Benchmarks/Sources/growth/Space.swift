import Foundation

/// Whether the volume has room for what is about to be stored.
enum Space {
    /// Before anything is written: a cache on a volume that runs short refuses items half way.
    static func check(in folder: URL, for counts: [Int], rounds: Int) throws {
        var volume = statvfs()
        guard statvfs(folder.path(percentEncoded: false), &volume) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        let block = max(Int64(volume.f_frsize), 4096)
        var files: Int64 = 0
        var bytes: Int64 = 0
        for count in counts {
            let small = Int64(count + rounds * Probe.evictions)
            // Once by the cache and once by the floor.
            let large = Int64(2 * rounds * (Probe.warmUps + Probe.stores))
            files += small + large
            // A block and an inode; and a row of the catalog, of which the journal may hold much again.
            bytes += small * (block + 256 + 1024) + large * (Int64(Probe.storedSize) + block)
        }
        // Near the end of a volume a cache takes nothing new, whatever its budget.
        let available = Int64(volume.f_bavail) * Int64(volume.f_frsize)
        let needed = bytes * 3 / 2
        guard available > needed else {
            throw TooLittleSpace(
                description: "the volume has \(available >> 20) MiB, and this takes \(needed >> 20)")
        }
        // No number of files at all means that there is no limit.
        guard volume.f_files == 0 || Int64(volume.f_favail) > files else {
            throw TooLittleSpace(
                description: "the volume takes \(volume.f_favail) more files, and this makes \(files)")
        }
    }
}

/// Said before anything was written.
struct TooLittleSpace: Error, CustomStringConvertible {
    let description: String
}
