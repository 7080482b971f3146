internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A response being received, with stall detection.
final class Reception: Sendable {
    let head: ResponseHead
    /// Whether the response uses TLS.
    let isSecure: Bool
    private let exchange: WatchedExchange
    private let watching: Task<Void, Never>

    private init(
        _ head: ResponseHead, isSecure: Bool, _ exchange: WatchedExchange, _ watching: Task<Void, Never>
    ) {
        self.head = head
        self.isSecure = isSecure
        self.exchange = exchange
        self.watching = watching
    }

    static func open(
        _ request: URLRequest, _ configuration: DownloaderConfiguration, _ environment: DownloaderEnvironment
    ) async throws(Interruption) -> Reception {
        let exchange = WatchedExchange(
            environment.transport.start(request), timeout: max(configuration.stallTimeout, .milliseconds(1)))
        let watching = Task { await exchange.watch(sleep: environment.sleep) }
        do {
            let isSecure = request.url.flatMap(Origin.init)?.scheme == "https"
            return Reception(try await exchange.head(), isSecure: isSecure, exchange, watching)
        } catch {
            watching.cancel()
            throw error
        }
    }

    /// - Returns: The next bytes of the body, or `nil` after the last byte.
    func next() async throws(Interruption) -> Data? { try await exchange.next() }

    /// Waits for the end of a response without a body, so that its connection can be reused.
    func drain() async {
        do {
            if try await next() == nil { return }
        } catch {
            // The head was all that mattered.
        }
        end()
    }

    /// Ends the exchange. Does nothing if it is over.
    func end() {
        watching.cancel()
        exchange.cancel()
    }
}

/// An exchange that is cancelled when the server stalls. Only time spent waiting for the server counts.
private final class WatchedExchange: Sendable {
    private let exchange: any Exchange
    private let timeout: Duration
    /// Odd while waiting for the server: incremented at the beginning and the end of every wait.
    private let turns = Atomic<Int>(0)
    private let hasStalled = Atomic<Bool>(false)

    init(_ exchange: any Exchange, timeout: Duration) {
        self.exchange = exchange
        self.timeout = timeout
    }

    func head() async throws(Interruption) -> ResponseHead {
        try await waiting { () async throws(TransferFailure) in try await exchange.head() }
    }

    func next() async throws(Interruption) -> Data? {
        try await waiting { () async throws(TransferFailure) in try await exchange.next() }
    }

    func cancel() { exchange.cancel() }

    private func waiting<Value: Sendable>(
        _ body: () async throws(TransferFailure) -> Value
    ) async throws(Interruption) -> Value {
        turns.wrappingAdd(1, ordering: .relaxed)
        defer { turns.wrappingAdd(1, ordering: .relaxed) }
        do {
            return try await body()
        } catch {
            if hasStalled.load(ordering: .acquiring) { throw Interruption(.stalled(timeout)) }
            throw Task.isCancelled ? Interruption(nil) : Interruption(.connection(error))
        }
    }

    /// Cancels the exchange if the same wait is still in progress after a full timeout interval. So a stall is detected
    /// after one to two times the timeout.
    func watch(sleep: @Sendable (Duration) async throws -> Void) async {
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
                hasStalled.store(true, ordering: .releasing)
                return exchange.cancel()
            }
            seen = now
        }
    }
}
