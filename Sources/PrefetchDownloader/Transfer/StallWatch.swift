internal import Synchronization

/// Ends an exchange with a server that says nothing. The time in which the downloader does something else than to
/// wait for the server does not count.
final class StallWatch: Sendable {
    /// Even while nobody waits. Every wait that begins or ends counts it on.
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

    /// Looks every `timeout` whether the wait is still the same, and cancels then. So a server may say nothing for
    /// once to twice that time.
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
