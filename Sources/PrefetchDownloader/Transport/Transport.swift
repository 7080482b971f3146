internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Speaks HTTP, one request and one response at a time. Follows no redirects and retries nothing.
protocol Transport: Sendable {
    /// Sends a request.
    func start(_ request: URLRequest) -> any Exchange
}

/// A request under way, and its response. Dropping it cancels it.
protocol Exchange: AnyObject, Sendable {
    /// Waits for the head of the response.
    func head() async throws(TransferFailure) -> ResponseHead

    /// Returns what has arrived of the body since the last call, a few mebibytes at most; `nil` after the
    /// last byte.
    ///
    /// Before the first call nothing is read ahead except by the operating system, and the server is held up
    /// while there are no calls.
    ///
    /// - Throws: Why the body ends early; ``TransferFailure/cancelled`` after ``cancel()``.
    func next() async throws(TransferFailure) -> Data?

    /// Ends the exchange. Does nothing when it is over.
    func cancel()
}
