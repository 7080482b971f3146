internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension DownloadRun {
    /// Sends the request, and follows redirects.
    func send(_ plan: RequestPlan, over network: NetworkConditions) async throws
        -> (ResponseHead, Exchange)
    {
        var request = request.urlRequest
        request.prepare(for: plan)
        return try await send(request, over: network)
    }

    func send(_ request: URLRequest, over network: NetworkConditions) async throws
        -> (ResponseHead, Exchange)
    {
        var request = request
        try environment.restrict(&request, network)
        for _ in 0...max(0, configuration.redirects) {
            tally.countRequest()
            let exchange = environment.transport.start(request)
            exchange.detectStalls(
                after: max(configuration.stallTimeout, .milliseconds(1)), sleep: environment.sleep)
            let head = try await exchange.head()
            guard Redirect.statuses.contains(head.status) else { return (head, exchange) }
            exchange.cancel()
            request = try Redirect.next(after: request, to: head["location"], configuration)
        }
        throw DownloadError.Reason.tooManyRedirects(limit: configuration.redirects)
    }
}
