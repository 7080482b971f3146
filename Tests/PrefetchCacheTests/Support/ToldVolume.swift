import PrefetchFileSystem
import PrefetchVolumeCapacity
import Synchronization

/// A volume that says what the test tells it to.
final class ToldVolume: VolumeProbing {
    private let told: Mutex<VolumeState>

    init(_ state: VolumeState) { told = Mutex(state) }

    func tell(_ state: VolumeState) { told.withLock { $0 = state } }

    func state(of _: Descriptor) -> VolumeState { told.withLock { $0 } }
}
