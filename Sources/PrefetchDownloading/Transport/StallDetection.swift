internal import PrefetchFileSystem
internal import Synchronization

/// How slow a server may be, and for how long.
struct SpeedLimit: Sendable {
    /// A window is divided into so many spans.
    static let spans = 16

    let window: Duration
    /// The fewest bytes of a body in a span, at least 1.
    private let bytesPerSpan: Double

    init(_ window: Duration, lowestSpeed: Int64) {
        self.window = max(window, .milliseconds(1))
        bytesPerSpan = Double(lowestSpeed) * (self.window / .seconds(1)) / Double(Self.spans)
    }

    var span: Duration { window / Self.spans }

    /// How long a server has been too slow: for the window, or for half of it if its slot is awaited.
    ///
    /// - Parameter received: Bytes of a body in the last spans.
    func stall(after received: [Int], isAwaited: () -> Bool) -> Duration? {
        func isSlow(_ spans: Int) -> Bool {
            received.count >= spans
                && Double(received.suffix(spans).reduce(0, +)) < max(1, bytesPerSpan * Double(spans))
        }
        if isSlow(Self.spans) { return window }
        return isSlow(Self.spans / 2) && isAwaited() ? window / 2 : nil
    }
}

/// Ends exchanges whose servers say nothing or next to nothing, by one timer for all of them.
final class StallDetection: Sendable {
    private struct Watched {
        let exchange: Exchange
        let isAwaited: @Sendable () -> Bool
    }

    private struct State {
        var watched: [Watched] = []
        var timer: Task<Void, Never>?
    }

    private let limit: SpeedLimit
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = UnfairMutex(State())

    init(_ limit: SpeedLimit, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.limit = limit
        self.sleep = sleep
    }

    deinit {
        state.withLock { $0.timer }?.cancel()
    }

    /// Watches an exchange until it is over.
    ///
    /// - Parameter isAwaited: Whether another download waits for it to end.
    func watch(_ exchange: Exchange, isAwaited: @escaping @Sendable () -> Bool = { false }) {
        state.withLock { state in
            state.watched.removeAll(where: \.exchange.isOver)
            state.watched.append(Watched(exchange: exchange, isAwaited: isAwaited))
            if state.timer == nil { state.timer = start() }
        }
    }

    private func start() -> Task<Void, Never> {
        Task { [weak self, limit, sleep] in
            repeat {
                do {
                    // Injected: a timer, which a test advances.
                    try await sleep(limit.span)
                } catch {
                    return
                }
            } while self?.endStalled() == true
        }
    }

    /// - Returns: Whether any exchanges are left.
    private func endStalled() -> Bool {
        let watched = state.withLock { state in
            state.watched.removeAll(where: \.exchange.isOver)
            if state.watched.isEmpty { state.timer = nil }
            return state.watched
        }
        for each in watched { each.exchange.endSpan(limit, isAwaited: each.isAwaited) }
        return !watched.isEmpty
    }
}
