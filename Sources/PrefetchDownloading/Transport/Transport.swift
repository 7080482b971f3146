internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends single requests over HTTP. Follows no redirects, repeats nothing, and stores nothing.
protocol Transport: Sendable {
    func start(_ request: URLRequest) -> Exchange
}

/// The connection that an ``Exchange`` is fed by. Called on any thread.
protocol Feed: Sendable {
    /// Ends the transfer.
    func cancel()
    /// Goes on after ``Exchange/receive(_:)-(Data)`` has returned `false`.
    func proceed()
}
