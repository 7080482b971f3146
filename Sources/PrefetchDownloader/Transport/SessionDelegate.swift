internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Hands what a session says to the pipe of the task that it is about.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let pipes = Mutex<[Int: BodyPipe]>([:])

    func add(_ task: URLSessionTask, _ pipe: BodyPipe) {
        pipes.withLock { $0[task.taskIdentifier] = pipe }
    }

    private func pipe(of task: URLSessionTask) -> BodyPipe? {
        pipes.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let head = ResponseHead(response) { pipe(of: dataTask)?.receive(head) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let pipe = pipe(of: dataTask) else { return }
        #if canImport(FoundationNetworking)
            pipe.receive(data)
        #else
            // A task that is suspended reads nothing.
            let isFull = pipe.isFull
            if isFull { dataTask.suspend() }
            pipe.receive(data)
            if isFull { dataTask.resume() }
        #endif
    }

    /// The redirect itself is the answer: whether to follow it is the downloader's decision.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if let head = ResponseHead(response) { pipe(of: task)?.receive(head) }
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let pipe = pipes.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error {
            pipe.finish(.failure(TransferFailure(error)))
        } else {
            // A redirect to nowhere comes without a call of its own.
            if let response = task.response, let head = ResponseHead(response) { pipe.receive(head) }
            pipe.finish(.success(()))
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
    /// The message of an error is left out: it may have the URL in it.
    init(_ error: any Error) {
        switch (error as? URLError)?.code {
        case .cannotFindHost?, .dnsLookupFailed?: self = .cannotFindHost
        case .cannotConnectToHost?: self = .cannotConnect
        // A connection that is closed before an answer has begun is a bad answer to libcurl.
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
