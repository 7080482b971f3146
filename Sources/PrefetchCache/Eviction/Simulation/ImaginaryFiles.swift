internal import FileSystem
internal import ItemFormat
internal import Synchronization

/// The files of a simulated cache: names without content.
final class ImaginaryFiles: VictimRemoving {
    private let names = Mutex<Set<KeyHash>>([])

    func contains(_ hash: KeyHash) -> Bool { names.withLock { $0.contains(hash) } }

    func insert(_ hash: KeyHash) { names.withLock { _ = $0.insert(hash) } }

    func remove(_ victim: Victim) throws(FileSystemError) -> Removal {
        names.withLock { $0.remove(victim.hash) } == nil ? .gone : .removed
    }
}
