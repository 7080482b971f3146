internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// HTTP by `URLSession`.
final class SessionTransport: Transport {
    /// In seconds. The downloader detects silent servers itself, and this would also run while waiting for the disk.
    static let timeout: TimeInterval = 86_400

    private let session: URLSession
    private let delegate = SessionDelegate()
    /// Calls of a session wait for its own queue, where a delegate may be waiting for the disk. They are made
    /// on this queue, not on a cooperative thread, which the writing to disk may need.
    private let calls = DispatchQueue(label: "PrefetchDownloader.SessionTransport")

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        // Storing is up to the cache, and nothing that a server sends is sent back to it.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The downloader has its own limits.
        configuration.httpMaximumConnectionsPerHost = 64
        configuration.timeoutIntervalForRequest = Self.timeout
        #if canImport(FoundationNetworking)
            let queue = InlineQueue()
        #else
            let queue = OperationQueue()
        #endif
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    deinit {
        // After the requests that are waiting: an invalidated session accepts none, and would end the
        // process.
        calls.async { [session] in session.finishTasksAndInvalidate() }
    }

    func start(_ request: URLRequest) -> any Exchange {
        let exchange = SessionExchange(on: calls)
        calls.async { [session, delegate] in
            let task = session.dataTask(with: request)
            delegate.add(task, exchange.pipe)
            exchange.begin(task)
        }
        return exchange
    }
}

/// A task of a session, and the pipe for its response.
private final class SessionExchange: Exchange {
    let pipe = BodyPipe()
    private let calls: DispatchQueue
    private let task = Mutex<URLSessionDataTask?>(nil)

    init(on calls: DispatchQueue) {
        self.calls = calls
    }

    deinit {
        guard pipe.cancel() else { return }
        let task = task.withLock { $0 }
        calls.async { task?.cancel() }
    }

    func begin(_ task: URLSessionDataTask) {
        self.task.withLock { $0 = task }
        task.resume()
    }

    func head() async throws(TransferFailure) -> ResponseHead {
        try await untilCancelled { () async throws(TransferFailure) in try await pipe.head() }
    }

    func next() async throws(TransferFailure) -> Data? {
        try await untilCancelled { () async throws(TransferFailure) in try await pipe.next() }
    }

    /// Runs a wait that ends when the task is cancelled.
    private func untilCancelled<Value: Sendable>(
        _ body: () async throws(TransferFailure) -> Value
    ) async throws(TransferFailure) -> Value {
        let result = await withTaskCancellationHandler {
            do throws(TransferFailure) {
                return Result<Value, TransferFailure>.success(try await body())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    func cancel() {
        guard pipe.cancel() else { return }
        calls.async { [self] in task.withLock { $0 }?.cancel() }
    }
}
