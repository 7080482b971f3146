internal import FileSystem
internal import ItemFormat
internal import Synchronization

/// The files of a simulated cache: names and lengths without content.
final class ImaginaryFiles: CatalogedFiles {
    private let lengths = Mutex<[KeyHash: Int64]>([:])

    func contains(_ hash: KeyHash) -> Bool { lengths.withLock { $0[hash] != nil } }

    func insert(_ hash: KeyHash, length: Int64) { lengths.withLock { $0[hash] = length } }

    func remove(_ victim: Victim) throws(FileSystemError) -> Removal {
        lengths.withLock { $0.removeValue(forKey: victim.hash) } == nil ? .gone : .removed
    }

    func claim(_ victim: Victim) throws(FileSystemError) -> Claiming {
        contains(victim.hash) ? .claimed(Claim(file: nil)) : .gone
    }

    func remove(_ victim: Victim, _ claim: Claim) throws(FileSystemError) -> Removal { try remove(victim) }

    func release(_ claim: Claim) {}

    /// There are no partials in a simulation.
    func standing(ofPartial hash: KeyHash) throws(FileSystemError) -> PartialFiles.Standing { .absent }

    func storedLength(of hash: KeyHash) throws(FileSystemError) -> Int64? { lengths.withLock { $0[hash] } }
}
