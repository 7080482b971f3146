import PrefetchFileSystem
import PrefetchVolumeCapacity
import SystemPackage

/// A volume of 1 GiB on which every file of the cache that goes leaves its room.
struct HelpingVolume: VolumeProbing {
    let container: TemporaryContainer
    /// What would be available without the cache.
    var spare: Int64 = 70 << 20

    func state(of _: Descriptor) throws(FileSystemError) -> VolumeState {
        do {
            return VolumeState(total: 1 << 30, available: spare - (try container.chargedOnDisk()))
        } catch {
            throw FileSystemError("walk", errno: .ioError)
        }
    }
}
