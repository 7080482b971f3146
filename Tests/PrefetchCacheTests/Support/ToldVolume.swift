import PrefetchFileSystem
import PrefetchVolumeCapacity
import Synchronization
import SystemPackage

/// A volume that says what the test tells it to.
final class ToldVolume: VolumeProbing {
    private let told: Mutex<VolumeState>

    init(_ state: VolumeState) { told = Mutex(state) }

    func tell(_ state: VolumeState) { told.withLock { $0 = state } }

    func state(of _: Descriptor) -> VolumeState { told.withLock { $0 } }
}

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
