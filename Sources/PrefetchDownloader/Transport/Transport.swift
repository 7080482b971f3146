internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Speaks HTTP, one request and one answer at a time. Follows no redirects and tries nothing twice.
protocol Transport: Sendable {
    /// Sends a request.
    func start(_ request: URLRequest) -> any Exchange
}

/// A request under way, and its answer. One that is dropped is cancelled.
protocol Exchange: AnyObject, Sendable {
    /// Waits for the head of the answer.
    func head() async throws(TransferFailure) -> ResponseHead

    /// What has come of the body since the last call, some mebibytes at most; `nil` after the last byte.
    ///
    /// Nothing is read ahead of the first call but what the operating system takes by itself, and the server is held
    /// up while nobody calls.
    ///
    /// - Throws: Why the body ends early; ``TransferFailure/cancelled`` after ``cancel()``.
    func next() async throws(TransferFailure) -> Data?

    /// Ends the exchange. Does nothing when it is over.
    func cancel()
}
