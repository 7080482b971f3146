internal import ItemFormat
internal import Synchronization

/// Keeps a file and what is noted of it in step: within this process, an item takes its place and is
/// noted, or loses it and is noted, as one.
///
/// Without it a store and a removal of one key could change the disk in one order and the books in
/// the other, and a file would lie in the cache that nobody charges for.
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
