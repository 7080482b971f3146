internal import PrefetchFileSystem
internal import PrefetchVolumeCapacity
internal import Synchronization

/// Delivers events to all listeners.
final class EventHub: Sendable {
    /// How many events are queued for a slow listener before the oldest are dropped, which bounds memory.
    static let backlog = 1024

    private struct Listeners: Sendable {
        var continuations: [Int: AsyncStream<CacheEvents.Numbered>.Continuation] = [:]
        var lastID = 0
        var isFinished = false
    }

    private let listeners = UnfairMutex(Listeners())
    /// The number of the last event. Locked during delivery, so that the numbers arrive in order; the listeners are
    /// not, since one may deregister meanwhile on the same thread.
    private let lastEvent = UnfairMutex(0)
    private let lastPressure = UnfairMutex(Pressure.normal)

    func send(_ event: CacheEvent) {
        lastEvent.withLock { lastEvent in
            lastEvent += 1
            for continuation in listeners.withLock({ Array($0.continuations.values) }) {
                continuation.yield(CacheEvents.Numbered(number: lastEvent, event: event))
            }
        }
    }

    /// Sends the level of pressure, if it has changed.
    func note(_ pressure: Pressure) {
        let isNew = lastPressure.withLock { last in
            defer { last = pressure }
            return last != pressure
        }
        if isNew { send(.pressure(pressure)) }
    }

    func stream() -> CacheEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheEvents.Numbered.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let (id, lastEvent) = lastEvent.withLock { lastEvent in
            let id = listeners.withLock { listeners -> Int? in
                guard !listeners.isFinished else { return nil }
                listeners.lastID += 1
                listeners.continuations[listeners.lastID] = continuation
                return listeners.lastID
            }
            return (id, lastEvent)
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
