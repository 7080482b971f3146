internal import Synchronization

/// Delivers events to all listeners.
final class EventHub: Sendable {
    /// How many events wait for a slow listener before the oldest are dropped: listeners must not be able to
    /// fill the memory.
    static let backlog = 1024

    private struct Listeners: Sendable {
        var continuations: [Int: AsyncStream<CacheEvents.Numbered>.Continuation] = [:]
        var lastID = 0
        var lastEvent = 0
        var isFinished = false
    }

    private let listeners = Mutex(Listeners())

    func send(_ event: CacheEvent) {
        // Under the lock, so that the numbers arrive in order.
        listeners.withLock { listeners in
            listeners.lastEvent += 1
            for continuation in listeners.continuations.values {
                continuation.yield(CacheEvents.Numbered(number: listeners.lastEvent, event: event))
            }
        }
    }

    func stream() -> CacheEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheEvents.Numbered.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let (id, lastEvent) = listeners.withLock { listeners -> (Int?, Int) in
            guard !listeners.isFinished else { return (nil, 0) }
            listeners.lastID += 1
            listeners.continuations[listeners.lastID] = continuation
            return (listeners.lastID, listeners.lastEvent)
        }
        if let id {
            continuation.onTermination = { [weak self] _ in
                self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
            }
        } else {
            continuation.finish()
        }
        return CacheEvents(stream, after: lastEvent)
    }

    func finish() {
        let continuations = listeners.withLock { listeners in
            listeners.isFinished = true
            defer { listeners.continuations = [:] }
            return listeners.continuations.values.map { $0 }
        }
        continuations.forEach { $0.finish() }
    }
}
