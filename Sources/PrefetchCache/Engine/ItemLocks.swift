internal import ItemFormat
internal import Synchronization

/// Keeps files and the catalog's notes about them in step, within this process: placing or removing an item
/// and noting it happen as one.
///
/// Otherwise a store and a removal of one key could change the disk in one order and the notes in the other,
/// and leave a file that is not charged.
final class ItemLocks: Sendable {
    private final class Stripe: Sendable {
        let mutex = Mutex(())
    }

    private let stripes = (0..<64).map { _ in Stripe() }

    func hold<Result, Failure: Error>(
        _ hash: KeyHash, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try stripes[Int(hash.low % 64)].mutex.withLock { _ throws(Failure) in try body() }
    }
}
