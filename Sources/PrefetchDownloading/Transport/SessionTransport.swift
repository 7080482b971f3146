internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests by `URLSession`.
///
/// On Linux without back-pressure: suspending a task closes its connection there, and a session reads on into memory
/// otherwise.
final class SessionTransport: Transport {
    private let session: URLSession
    private let isOwn: Bool
    private let delegate = SessionDelegate()
    /// Calls to a session block on its work queue. They are made on this queue rather than on a cooperative thread.
    private let calls = DispatchQueue(label: "PrefetchDownloader.SessionTransport")

    /// Uses a session that remembers nothing.
    init() {
        isOwn = true
        session = URLSession(configuration: .forDownloads, delegate: delegate, delegateQueue: nil)
    }

    #if canImport(Darwin)
        /// Uses a session of the app. Elsewhere a session does not ask the delegates of its tasks.
        init(_ session: URLSession) {
            isOwn = false
            self.session = session
        }
    #endif

    deinit {
        guard isOwn else { return }
        // After pending requests: creating a task in an invalidated session crashes.
        calls.async { [session] in session.finishTasksAndInvalidate() }
    }

    func start(_ request: URLRequest) -> Exchange {
        let exchange = Exchange(request.url)
        var request = request
        // A day: in effect none. The downloader detects stalls itself, and this also counts waits for the disk.
        request.timeoutInterval = 86_400
        calls.async { [self, request] in
            let feed = SessionFeed(session.dataTask(with: request), on: calls)
            delegate.add(feed, to: exchange)
            if !isOwn { feed.task.delegate = delegate }
            exchange.begin(feed)
            feed.task.resume()
        }
        return exchange
    }
}

extension URLSessionConfiguration {
    /// The cache does the storing, and no cookies or credentials are kept.
    fileprivate static var forDownloads: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The downloader has its own limits.
        configuration.httpMaximumConnectionsPerHost = 64
        return configuration
    }
}

/// A task that is suspended while nobody wants more from it.
private final class SessionFeed: Feed {
    let task: URLSessionDataTask
    private let calls: DispatchQueue
    /// How often it went on.
    private let turns = Mutex(0)

    init(_ task: URLSessionDataTask, on calls: DispatchQueue) {
        self.task = task
        self.calls = calls
    }

    func cancel() { calls.async { [task] in task.cancel() } }

    func proceed() {
        calls.async { [self] in
            turns.withLock { turns in
                turns += 1
                task.resume()
            }
        }
    }

    /// Hands a piece over, and suspends the task unless more is wanted by then.
    func receive(_ bytes: Data, for exchange: Exchange) {
        let turn = turns.withLock { $0 }
        guard !exchange.receive(bytes) else { return }
        #if canImport(FoundationNetworking)
            _ = turn
        #else
            // It stops reading from the network then.
            turns.withLock { if $0 == turn { task.suspend() } }
        #endif
    }
}

/// Forwards the events of a session to the exchanges of its tasks.
private final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Mutex<[Int: (feed: SessionFeed, exchange: Exchange)]>([:])

    func add(_ feed: SessionFeed, to exchange: Exchange) {
        transfers.withLock { $0[feed.task.taskIdentifier] = (feed, exchange) }
    }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        transfers.withLock { $0[task.taskIdentifier]?.exchange }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let head = ResponseHead(response) { exchange(of: dataTask)?.receive(head) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let transfer = transfers.withLock({ $0[dataTask.taskIdentifier] }) else { return }
        transfer.feed.receive(data, for: transfer.exchange)
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
        let exchange = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.exchange
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
            status: response.statusCode, isDecoded: true,
            fields: response.allHeaderFields.compactMap { name, value in
                guard let name = name as? String, let value = value as? String else { return nil }
                return (name, value)
            })
    }
}

extension TransferFailure {
    /// Drops the message of the error, which may contain the URL.
    init(_ error: any Error) {
        if let restriction = (error as? URLError)?.networkRestriction {
            self = restriction
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
