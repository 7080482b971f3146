public import PrefetchItemFormat
public import PrefetchStorageAreas
public import PrefetchVolumeCapacity

/// Something that happened to the cache in this process.
public enum CacheEvent: Hashable, Sendable {
    /// An item was stored.
    case stored(ItemKey, ItemSummary)
    /// An item was not stored, and why.
    case refused(ItemKey, Refusal)
    /// An item was evicted, which freed this many charged bytes.
    case evicted(ItemKey, chargedBytes: Int64)
    /// An item had expired when it was asked for, and was removed. One that maintenance finds expired is
    /// ``evicted(_:chargedBytes:)``.
    case expired(ItemKey)
    /// An item was removed by ``PrefetchCache/remove(_:)``.
    case removed(ItemKey)
    /// An item was promoted: it is the user's file at this location.
    case promoted(ItemKey, AreaPath)
    /// The record of a promotion was dropped, by ``PrefetchCache/forget(_:)`` or
    /// ``PrefetchCache/deletePromotedFile(_:)``. The key may be stored again.
    case forgotten(ItemKey)
    /// The item's file did not hold what was stored. It was moved to the quarantine, and the read was a miss.
    case quarantined(ItemKey, ItemFormatError)
    /// The system purged the item, wholly or in part.
    case purged(ItemKey)
    /// The item was written by a newer version of this package and was left alone.
    case newerFormat(ItemKey, version: UInt16)
    /// The volume's level of pressure changed. At `critical` the cache has evicted everything that was neither pinned
    /// nor open, and the app should free what it can do without.
    case pressure(Pressure)
    /// The catalog was missing or damaged, and was rebuilt from the items, of which there is at least one.
    case catalogRebuilt(items: Int)
    /// This listener fell behind, and this many events were dropped here. Look up in the cache what they would have
    /// reported.
    case eventsLost(Int)
}

/// The events of a cache in this process, in order, from the moment when ``PrefetchCache/events`` was read. Ends when
/// the cache is closed. For one listener: each further one reads ``PrefetchCache/events`` again.
///
/// ```swift
/// for await event in cache.events {
///     if case .evicted(let key, _) = event { prefetchAgain(key) }
/// }
/// ```
///
/// A listener that falls behind by more than 1,024 events loses the oldest, and receives
/// ``CacheEvent/eventsLost(_:)`` in their place.
public struct CacheEvents: AsyncSequence, Sendable {
    /// An event, and its position among all events of the cache: a gap shows how many were lost.
    struct Numbered: Sendable {
        let number: Int
        let event: CacheEvent
    }

    private let stream: AsyncStream<Numbered>
    private let lastNumber: Int

    /// - Parameter lastNumber: The number of the last event before the stream.
    init(_ stream: AsyncStream<Numbered>, after lastNumber: Int) {
        self.stream = stream
        self.lastNumber = lastNumber
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream.makeAsyncIterator(), after: lastNumber)
    }

    /// Waits for one event at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var numbered: AsyncStream<Numbered>.AsyncIterator
        private var lastNumber: Int
        /// The event after a gap that was just reported.
        private var next: CacheEvent?

        init(_ numbered: AsyncStream<Numbered>.AsyncIterator, after lastNumber: Int) {
            self.numbered = numbered
            self.lastNumber = lastNumber
        }

        /// Returns the next event; `nil` when the cache was closed or the task cancelled.
        public mutating func next() async -> CacheEvent? {
            await next(isolation: nil)
        }

        /// Returns the next event; `nil` when the cache was closed or the task cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> CacheEvent? {
            if let next {
                self.next = nil
                return next
            }
            guard let found = await numbered.next(isolation: actor) else { return nil }
            let lost = found.number - lastNumber - 1
            lastNumber = found.number
            guard lost > 0 else { return found.event }
            next = found.event
            return .eventsLost(lost)
        }
    }
}
