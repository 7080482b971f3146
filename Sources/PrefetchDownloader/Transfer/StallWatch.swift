internal import Synchronization

/// Ends an exchange with a silent server. Only time spent waiting for the server counts.
final class StallWatch: Sendable {
    /// Even while the downloader is not waiting. Incremented at the beginning and the end of every wait.
    private let turns = Atomic<Int>(0)
    private let stalled = Atomic<Bool>(false)

    var hasStalled: Bool { stalled.load(ordering: .acquiring) }

    /// Waits for the server.
    func waiting<Value: Sendable>(
        _ body: () async throws(TransferFailure) -> Value
    ) async throws(TransferFailure) -> Value {
        turns.wrappingAdd(1, ordering: .relaxed)
        defer { turns.wrappingAdd(1, ordering: .relaxed) }
        return try await body()
    }

    /// Checks at intervals of `timeout` whether the wait is still the same, and then cancels the exchange. So
    /// a server may be silent for one to two times that duration.
    func watch(
        _ exchange: any Exchange, timeout: Duration, sleep: @Sendable (Duration) async throws -> Void
    ) async {
        var seen = turns.load(ordering: .relaxed)
        while true {
            do {
                try await sleep(timeout)
            } catch {
                // Cancelled: the exchange is over.
                return
            }
            let now = turns.load(ordering: .relaxed)
            if now == seen, now % 2 == 1 {
                stalled.store(true, ordering: .releasing)
                exchange.cancel()
                return
            }
            seen = now
        }
    }
}
