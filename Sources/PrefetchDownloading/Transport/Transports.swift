internal import Foundation
internal import PrefetchFileSystem
internal import Synchronization

#if canImport(CPrefetchCurl)
    internal import CPrefetchCurl
#endif

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
        if isOwn { session.finishTasksAndInvalidate() }
    }

    func start(_ request: URLRequest) -> Exchange {
        let exchange = Exchange(request.url)
        var request = request
        // A day: in effect none. The downloader detects stalls itself, and this also counts waits for the disk.
        request.timeoutInterval = 86_400
        let feed = SessionFeed(session.dataTask(with: request))
        delegate.add(feed, to: exchange)
        if !isOwn { feed.task.delegate = delegate }
        exchange.begin(feed)
        feed.task.resume()
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
    /// How often it went on.
    private let turns = Mutex(0)

    init(_ task: URLSessionDataTask) { self.task = task }

    func cancel() { task.cancel() }

    func proceed() {
        turns.withLock { turns in
            turns += 1
            task.resume()
        }
    }

    /// Hands a piece over, and suspends the task unless more is wanted by then.
    func receive(_ bytes: Data, for exchange: Exchange) {
        let turn = turns.withLock(\.self)
        let isFull = !exchange.receive(bytes)
        #if canImport(Darwin)
            // It stops reading from the network then.
            if isFull { turns.withLock { if $0 == turn { task.suspend() } } }
        #else
            _ = (turn, isFull)
        #endif
    }
}

/// Forwards the events of a session to the exchanges of its tasks.
private final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Mutex<[Int: (feed: SessionFeed, exchange: Exchange)]>([:])

    func add(_ feed: SessionFeed, to exchange: Exchange) {
        transfers.withLock { $0[feed.task.taskIdentifier] = (feed, exchange) }
    }

    private func transfer(of task: URLSessionTask) -> (feed: SessionFeed, exchange: Exchange)? {
        transfers.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let head = ResponseHead(response) { transfer(of: dataTask)?.exchange.receive(head) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let transfer = transfer(of: dataTask) else { return }
        transfer.feed.receive(data, for: transfer.exchange)
    }

    /// Treats the redirect itself as the response: the downloader decides whether to follow it.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
        if let head = ResponseHead(response) { transfer(of: task)?.exchange.receive(head) }
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
        #if canImport(Darwin)
            if let reason = (error as? URLError)?.networkUnavailableReason {
                self = reason == .constrained ? .networkIsConstrained : .networkIsExpensive
                return
            }
        #endif
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

#if canImport(CPrefetchCurl)
    /// Sends requests by libcurl, all of them on one thread that never waits for the disk.
    final class CurlTransport: Transport {
        private let loop: CurlLoop

        /// - Parameter authorities: The path of a file with the certificates of the authorities that are trusted; `nil` for
        ///   those of the system.
        init(authorities: String? = nil) {
            loop = CurlLoop(authorities: authorities)
        }

        func start(_ request: URLRequest) -> Exchange {
            let exchange = Exchange(request.url)
            loop.start(request, exchange)
            return exchange
        }

        deinit { loop.close() }
    }

    /// The thread that transfers, which begins with the first request, and ends when all transfers have after ``close()``.
    private final class CurlLoop: Sendable {
        /// What its thread is to do with the transfers, by their numbers.
        private typealias Command = @Sendable (inout [Int: CurlTransfer]) -> Void

        private struct State: Sendable {
            var commands: [Command] = []
            var lastTransfer = 0
            var isRunning = false
            var isClosed = false
        }

        private struct CurlFeed: Feed {
            let loop: CurlLoop
            let transfer: Int

            func cancel() {
                loop.tell { [loop, transfer] in $0.removeValue(forKey: transfer)?.remove(from: loop.multi) }
            }
            func proceed() { loop.tell { [transfer] in $0[transfer]?.proceed() } }
        }

        /// In milliseconds. The thread is woken for anything that it has to do.
        private static let longestWait: Int32 = 600_000
        /// For how long it waits at a time on a thread that others need, in milliseconds.
        private static let shortWait: Int32 = 5

        private let state = UnfairMutex(State())
        // Of all calls only that of `curl_multi_wakeup` is made by another thread than the loop's, which curl allows.
        nonisolated(unsafe) private let multi: UnsafeMutableRawPointer?

        private let authorities: String?

        init(authorities: String?) {
            self.authorities = authorities
            _ = Curl.isReady
            multi = curl_multi_init()
            // Requests to a host that has HTTP/2 share a connection.
            _ = cprefetch_curl_set_multi(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        }

        deinit { curl_multi_cleanup(multi) }

        func start(_ request: URLRequest, _ exchange: Exchange) {
            let (transfer, isFirst) = state.withLock { state in
                defer { state.isRunning = true }
                state.lastTransfer += 1
                return (state.lastTransfer, !state.isRunning)
            }
            tell { [self] transfers in
                let started = CurlTransfer(transfer, request, exchange, trusting: authorities)
                if started.begin(in: multi) { transfers[transfer] = started }
            }
            exchange.begin(CurlFeed(loop: self, transfer: transfer))
            guard isFirst, !startThread(named: "PrefetchDownload", { [self] in run() }) else { return }
            // At a limit of the system it shares a thread with all other tasks.
            Task.detached { [self] in
                var transfers: [Int: CurlTransfer] = [:]
                while step(&transfers, waiting: Self.shortWait) { await Task.yield() }
            }
        }

        func close() {
            state.withLock { $0.isClosed = true }
            curl_multi_wakeup(multi)
        }

        private func tell(_ command: @escaping Command) {
            state.withLock { $0.commands.append(command) }
            curl_multi_wakeup(multi)
        }

        // MARK: The thread

        private func run() {
            var transfers: [Int: CurlTransfer] = [:]
            while step(&transfers, waiting: Self.longestWait) {}
        }

        /// - Returns: Whether there is more to do.
        private func step(_ transfers: inout [Int: CurlTransfer], waiting milliseconds: Int32) -> Bool {
            let (commands, isClosed) = state.withLock { state in
                defer { state.commands = [] }
                return (state.commands, state.isClosed)
            }
            for command in commands { command(&transfers) }
            if isClosed, commands.isEmpty, transfers.isEmpty { return false }
            var (running, left): (Int32, Int32) = (0, 0)
            curl_multi_perform(multi, &running)
            while let message = curl_multi_info_read(multi, &left)?.pointee {
                guard message.msg == CURLMSG_DONE, let transfer = CurlTransfer.of(message.easy_handle)
                else { continue }
                transfers[transfer.number] = nil
                transfer.finish(message.data.result)
                transfer.remove(from: multi)
            }
            curl_multi_poll(multi, nil, 0, milliseconds, nil)
            return true
        }
    }

    /// A request under way, used by the thread of its loop alone.
    private final class CurlTransfer {
        let number: Int
        private let exchange: Exchange
        private let easy: UnsafeMutableRawPointer?
        private var head = HeadLines()
        /// What is wrong with the response, if anything is.
        private var failure: TransferFailure?
        private var headers: UnsafeMutablePointer<curl_slist>?

        init(
            _ number: Int, _ request: URLRequest, _ exchange: Exchange, trusting authorities: String?
        ) {
            self.number = number
            self.exchange = exchange
            easy = curl_easy_init()
            for (option, value) in Self.options { _ = cprefetch_curl_set_long(easy, option, value) }
            if request.httpMethod == "HEAD" { _ = cprefetch_curl_set_long(easy, CURLOPT_NOBODY, 1) }
            _ = cprefetch_curl_set_string(easy, CURLOPT_URL, request.url?.absoluteString ?? "")
            _ = cprefetch_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
            if let authorities { _ = cprefetch_curl_set_string(easy, CURLOPT_CAINFO, authorities) }
            for (name, value) in request.allHTTPHeaderFields ?? [:] {
                let line = value.isEmpty ? "\(name);" : "\(name): \(value)"
                // What could end the line, and begin another one, is not sent.
                guard line.utf8.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }) else { continue }
                headers = curl_slist_append(headers, line)
            }
            _ = cprefetch_curl_set_headers(easy, headers)
            cprefetch_curl_set_callbacks(
                easy,
                { line, size, count, context in
                    CurlTransfer.of(context: context).receiveLine(line, size * count)
                },
                { bytes, size, count, context in
                    CurlTransfer.of(context: context).receiveBody(bytes, size * count)
                }, Unmanaged.passUnretained(self).toOpaque())
        }

        deinit {
            curl_easy_cleanup(easy)
            curl_slist_free_all(headers)
        }

        /// Not `CURLOPT_PIPEWAIT`: with it, libcurl 7.88 leaves requests waiting for a connection that is idle again.
        private static let options: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_HTTP09_ALLOWED, 0), (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
            (CURLOPT_HTTP_CONTENT_DECODING, 0), (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
            (CURLOPT_TCP_KEEPALIVE, 1), (CURLOPT_BUFFERSIZE, 128 << 10),
        ]

        /// - Returns: `false` if it has ended already, for lack of memory.
        func begin(in multi: UnsafeMutableRawPointer?) -> Bool {
            let isAdded = curl_multi_add_handle(multi, easy) == CURLM_OK
            if !isAdded { exchange.finish(.failure(.connection(.other))) }
            return isAdded
        }

        /// Keeps neither the transfer nor its exchange afterwards.
        func remove(from multi: UnsafeMutableRawPointer?) { curl_multi_remove_handle(multi, easy) }

        func proceed() { curl_easy_pause(easy, CURLPAUSE_CONT) }

        func finish(_ result: CURLcode) {
            guard result != CURLE_OK else { return exchange.finish(.success(())) }
            let errno = Int32(cprefetch_curl_errno(easy))
            exchange.finish(.failure(.connection(failure ?? TransferFailure(result, errno: errno))))
        }

        // MARK: Calls by curl

        static func of(_ easy: UnsafeMutableRawPointer?) -> CurlTransfer? {
            cprefetch_curl_context(easy).map { of(context: $0) }
        }

        private static func of(context: UnsafeMutableRawPointer?) -> CurlTransfer {
            guard let context else { preconditionFailure("curl has lost its transfer") }
            // Its loop keeps it until curl has been told to forget it.
            return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        }

        /// - Returns: The length of the line; anything else ends the transfer.
        private func receiveLine(_ line: UnsafeMutablePointer<CChar>?, _ length: Int) -> Int {
            do throws(HeadLines.TooLong) {
                let bytes = UnsafeRawBufferPointer(start: line, count: length)
                if let head = try head.add(bytes) { exchange.receive(head) }
                return length
            } catch {
                failure = .malformed
                return 0
            }
        }

        private func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ length: Int) -> Int {
            guard let bytes else { return length }
            if !exchange.receive(Data(bytes: bytes, count: length)) { curl_easy_pause(easy, CURLPAUSE_RECV) }
            return length
        }
    }

    private enum Curl {
        /// Whether the library is initialised, which is done once for a process.
        static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
    }

    extension TransferFailure {
        fileprivate init(_ code: CURLcode, errno: Int32) {
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .cannotFindHost
            case CURLE_COULDNT_CONNECT:
                self = [ENETUNREACH, ENETDOWN].contains(errno) ? .offline : .cannotConnect
            case CURLE_OPERATION_TIMEDOUT: self = .timedOut
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
                CURLE_SSL_ISSUER_ERROR:
                self = .notTrusted
            case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2,
                CURLE_HTTP2_STREAM:
                self = .connectionLost
            case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY,
                CURLE_BAD_CONTENT_ENCODING, CURLE_FILESIZE_EXCEEDED:
                self = .malformed
            default: self = .other
            }
        }
    }
#endif
