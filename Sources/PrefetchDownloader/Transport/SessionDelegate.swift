internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Passes the events of a session to the pipe of the task concerned.
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
            // A suspended task reads nothing.
            let isFull = pipe.isFull
            if isFull { dataTask.suspend() }
            pipe.receive(data)
            if isFull { dataTask.resume() }
        #endif
    }

    /// Treats the redirect itself as the response: whether to follow it is the downloader's decision.
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
            // A redirect without a target is not reported separately.
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
    /// Leaves out the message of the error, which may contain the URL.
    init(_ error: any Error) {
        switch (error as? URLError)?.code {
        case .cannotFindHost?, .dnsLookupFailed?: self = .cannotFindHost
        case .cannotConnectToHost?: self = .cannotConnect
        // libcurl reports a connection that is closed before the response as a bad response.
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
