import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Downloads by `URLSession`, as on Apple platforms.
@Suite struct SessionTransportTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private func downloader(_ cache: TestCache) -> PrefetchDownloader {
        cache.downloader({ $0.attempts = 1 }, in: { $0.transport = SessionTransport() })
    }

    @Test func contentIsStoredAndResumed() async throws {
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).cut(after: 2_200_000) }, { resource.answer(to: $0) },
            { resource.answer(to: $0) })
        let downloader = downloader(cache)
        let cut = await downloader.prefetch(DownloadRequest(server.url())).outcome
        #expect(cut.error?.reason == .truncated(received: 2_200_000, announced: 5_500_000))
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome.isStored)
        #expect(try await cache.holds(content))
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome == .notModified)
        #expect(server.requests.map(\.rangeStart) == [nil, 2 << 20, nil])
    }

    @Test func redirectsAreFollowedByTheDownloader() async throws {
        let server = try HTTPTestServer { request in
            request.target == "/old"
                ? TestAnswer(302, ["Location": "/new"], body: Data("moved".utf8))
                : resource.answer(to: request)
        }
        #expect(await downloader(cache).prefetch(DownloadRequest(server.url("/old"))).outcome.isStored)
        let elsewhere = try HTTPTestServer { _ in TestAnswer(302, ["Location": "http://elsewhere.example/"]) }
        let outcome = await downloader(cache).prefetch(DownloadRequest(elsewhere.url(), "other")).outcome
        #expect(outcome.error?.reason == .redirect(to: "http://elsewhere.example"))
    }

    @Test func failuresHaveTheirReasons() async throws {
        let server = try HTTPTestServer { _ in TestAnswer(404) }
        let request = DownloadRequest(server.url())
        #expect(
            await downloader(cache).prefetch(request).outcome.error?.reason == .status(404, retryAfter: nil))
        server.close()
        #expect(
            await downloader(cache).prefetch(request).outcome.error?.reason == .connection(.cannotConnect))
    }

    @Test func aTransferCanBeCancelled() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: 3_400_000, .stall) }
        let download = downloader(cache).prefetch(DownloadRequest(server.url()))
        await download.hasReceived(3_400_000)
        download.cancel()
        #expect(await download.outcome == .cancelled(keptBytes: 3 << 20))
    }
}
