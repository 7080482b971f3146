internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// An HTTP client for single requests, over `URLSession`. Does not follow redirects or retry.
final class SessionTransport: Sendable {
    /// In seconds. Effectively disabled: the downloader detects stalls itself, and this also counts waits for the disk.
    static let timeout: TimeInterval = 86_400

    private let session: URLSession
    private let delegate = SessionDelegate()
    /// Calls to a session block on its work queue, where a delegate may be waiting for the disk. They are made on this
    /// queue rather than on a cooperative thread, which the disk write may need.
    private let calls = DispatchQueue(label: "PrefetchDownloader.SessionTransport")

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        // The cache does the storing, and no cookies or credentials are kept.
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
        // After pending requests: creating a task in an invalidated session crashes.
        calls.async { [session] in session.finishTasksAndInvalidate() }
    }

    /// Sends a request.
    func start(_ request: URLRequest) -> Exchange {
        let exchange = Exchange(isSecure: request.url?.scheme?.lowercased() == "https", on: calls)
        calls.async { [session, delegate] in
            let task = session.dataTask(with: request)
            delegate.add(exchange, for: task)
            exchange.begin(task)
        }
        return exchange
    }
}

/// Forwards the events of a session to the exchanges of its tasks.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let exchanges = Mutex<[Int: Exchange]>([:])

    func add(_ exchange: Exchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let head = ResponseHead(response) { exchange(of: dataTask)?.receive(head) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchange(of: dataTask) else { return }
        #if canImport(FoundationNetworking)
            exchange.receive(data)
        #else
            // A suspended task stops reading from the network.
            let isFull = exchange.isFull
            if isFull { dataTask.suspend() }
            exchange.receive(data)
            if isFull { dataTask.resume() }
        #endif
    }

    /// Treats the redirect itself as the response: the downloader decides whether to follow it.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if let head = ResponseHead(response) { exchange(of: task)?.receive(head) }
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        if let error {
            exchange?.finish(.failure(.connection(TransferFailure(error))))
        } else {
            // A redirect without a target is not reported separately.
            if let response = task.response, let head = ResponseHead(response) { exchange?.receive(head) }
            exchange?.finish(.success(()))
        }
    }
}

extension ResponseHead {
    init?(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return nil }
        self.init(
            status: response.statusCode,
            fields: response.allHeaderFields.compactMap { name, value in
                guard let name = name as? String, let value = value as? String else { return nil }
                return (name, value)
            })
    }
}

extension TransferFailure {
    /// Drops the message of the error, which may contain the URL.
    init(_ error: any Error) {
        if let error = error as? URLError, error.isOfRestrictedNetwork {
            self = .networkNotAllowed
            return
        }
        switch (error as? URLError)?.code {
        case .cannotFindHost?, .dnsLookupFailed?: self = .cannotFindHost
        case .cannotConnectToHost?: self = .cannotConnect
        // libcurl reports a connection closed before the response as a bad response.
        case .networkConnectionLost?, .badServerResponse?: self = .connectionLost
        case .timedOut?: self = .timedOut
        case .notConnectedToInternet?: self = .offline
        case .serverCertificateUntrusted?, .serverCertificateHasBadDate?, .serverCertificateHasUnknownRoot?,
            .serverCertificateNotYetValid?, .secureConnectionFailed?:
            self = .notTrusted
        case .cannotParseResponse?: self = .malformed
        case .cancelled?: self = .cancelled
        default: self = .other
        }
    }
}

#if canImport(FoundationNetworking)
    /// Runs operations synchronously on the calling thread, to apply back-pressure.
    ///
    /// The `URLSession` of swift-corelibs-foundation enqueues everything that libcurl reads on its delegate's queue and
    /// keeps reading, however long the queue gets: downloading 1 GiB to a sink that takes 160 MB/s grew the process by
    /// 560 MB. Its `suspend()` closes the connection, and it does not wait for the disposition of a response (`allow`
    /// or `cancel`). With this queue the delegate is called from libcurl's write callback, so that a blocked delegate
    /// stops libcurl from reading, and TCP flow control slows the server down.
    ///
    /// - Important: That thread is the session's work queue, which all sessions of a process share: while a delegate
    ///   blocks, no session in the process makes progress. The delegate waits only for the disk, which all of them
    ///   would have to wait for anyway, and nothing that it waits for may wait for a session.
    final class InlineQueue: OperationQueue, @unchecked Sendable {
        // Unchecked because the superclass is; there is no additional state.

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif
