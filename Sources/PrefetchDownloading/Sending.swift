internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension DownloadRun {
    /// Sends the request, and follows redirects.
    func send(_ plan: RequestPlan, in attempt: Attempt) async throws -> (ResponseHead, Exchange) {
        var request = request.urlRequest
        request.prepare(for: plan, acceptsEncoded: attempt.acceptsEncoded)
        return try await send(request, under: attempt.conditions)
    }

    func send(_ request: URLRequest, under conditions: DownloadConditions) async throws
        -> (ResponseHead, Exchange)
    {
        if let refusal = slots.refusal(of: entry.host) { throw refusal }
        var request = request
        var cookies = ChainCookies()
        request.introduce(as: configuration.userAgent)
        try await keeper.require(conditions)
        try environment.restrict(&request, conditions.network)
        for _ in 0...max(0, configuration.redirects) {
            tally.countRequest()
            let exchange = environment.transport.start(cookies.added(to: request))
            stalls.watch(exchange) { [slots, host = entry.host] in slots.areAwaited(for: host) }
            let head = try await exchange.head()
            guard Redirect.statuses.contains(head.status) else { return (head, exchange) }
            exchange.cancel()
            cookies.take(from: head, at: request.url, now: environment.now())
            request = try Redirect.next(after: request, to: head["location"], configuration)
        }
        throw DownloadError.Reason.tooManyRedirects(limit: configuration.redirects)
    }
}
