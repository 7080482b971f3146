internal import Synchronization

/// Delivers events to all listeners.
final class EventHub: Sendable {
    /// How many events wait for a slow listener before the oldest are dropped: listeners must not be able to
    /// fill the memory.
    private static let backlog = 1024

    private struct Listeners: Sendable {
        var continuations: [Int: AsyncStream<CacheEvent>.Continuation] = [:]
        var lastID = 0
        var isFinished = false
    }

    private let listeners = Mutex(Listeners())

    func send(_ event: CacheEvent) {
        for continuation in listeners.withLock({ $0.continuations.values.map { $0 } }) {
            continuation.yield(event)
        }
    }

    func stream() -> AsyncStream<CacheEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheEvent.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let id: Int? = listeners.withLock { listeners in
            guard !listeners.isFinished else { return nil }
            listeners.lastID += 1
            listeners.continuations[listeners.lastID] = continuation
            return listeners.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
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
