internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A response that is being received, under the watch for silent servers.
final class Reception: Sendable {
    let head: ResponseHead
    /// Whether it comes over TLS.
    let isSecure: Bool
    private let exchange: any Exchange
    private let watch: StallWatch
    private let watching: Task<Void, Never>
    private let stallTimeout: Duration

    private init(
        _ head: ResponseHead, isSecure: Bool, _ exchange: any Exchange, _ watch: StallWatch,
        _ watching: Task<Void, Never>, _ stallTimeout: Duration
    ) {
        self.head = head
        self.isSecure = isSecure
        self.exchange = exchange
        self.watch = watch
        self.watching = watching
        self.stallTimeout = stallTimeout
    }

    static func open(
        _ request: URLRequest, _ configuration: DownloaderConfiguration, _ environment: DownloaderEnvironment
    ) async throws(Interruption) -> Reception {
        let exchange = environment.transport.start(request)
        let watch = StallWatch()
        let timeout = max(configuration.stallTimeout, .milliseconds(1))
        let watching = Task { await watch.watch(exchange, timeout: timeout, sleep: environment.sleep) }
        do {
            let head = try await watch.waiting { () async throws(TransferFailure) in try await exchange.head()
            }
            let isSecure = request.url.flatMap(Origin.init)?.scheme == "https"
            return Reception(head, isSecure: isSecure, exchange, watch, watching, timeout)
        } catch {
            watching.cancel()
            throw Interruption(error, watch, timeout)
        }
    }

    /// - Returns: The next bytes of the body, or `nil` after the last byte.
    func next() async throws(Interruption) -> Data? {
        do {
            return try await watch.waiting { () async throws(TransferFailure) in try await exchange.next() }
        } catch {
            throw Interruption(error, watch, stallTimeout)
        }
    }

    /// Waits for the end of a response without a body, so that its connection can serve the next request.
    func drain() async {
        do {
            if try await next() == nil { return }
        } catch {
            // Everything that matters was in the head.
        }
        end()
    }

    /// Ends the exchange. Does nothing when it is over.
    func end() {
        watching.cancel()
        exchange.cancel()
    }
}

extension Interruption {
    fileprivate init(_ failure: TransferFailure, _ watch: StallWatch, _ timeout: Duration) {
        if watch.hasStalled {
            self.init(.stalled(timeout))
        } else if Task.isCancelled {
            self.init(nil)
        } else {
            self.init(.connection(failure))
        }
    }
}

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
