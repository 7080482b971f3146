/// The events of a cache in this process, in their order, from the moment when ``PrefetchCache/events`` was read.
/// Ends when the cache is closed. For one listener: another one reads ``PrefetchCache/events`` again.
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

    /// Waits for one event after the other.
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
