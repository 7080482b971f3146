import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Downloads into a cache that is suspended in the middle.
@Suite struct SuspendedCacheTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    @Test func aTransferStopsAndGoesOnWhereItWas() async throws {
        let gate = Gate()
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).after(2_200_000) { gate.wait() } },
            { resource.answer(to: $0) })
        let downloader = cache.downloader { $0.attempts = 1 }
        let download = downloader.prefetch(DownloadRequest(server.url(), "item", .sha256(contentDigest)))
        await download.hasReceived(2 << 20)
        try await cache.cache.suspend()
        for _ in 0..<1000 { await Task.yield() }
        #expect(server.requests.count == 1, "while it is suspended")
        try await cache.cache.resume()
        // While the first answer is still held back.
        #expect(await download.outcome.isStored)
        gate.open()
        #expect(server.requests.map(\.rangeStart) == [nil, 2 << 20])
        #expect(server.requests.last?.headers["if-range"] == "\"1\"")
        #expect(try await cache.holds(content))
        #expect(cache.clock.slept == [])
        try await cache.cache.close()
    }

    @Test func aDownloadThatBeginsMeanwhileWaits() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        try await cache.cache.suspend()
        let download = cache.downloader { $0.attempts = 1 }.prefetch(DownloadRequest(server.url()))
        for _ in 0..<1000 { await Task.yield() }
        #expect(server.requests.isEmpty)
        try await cache.cache.resume()
        #expect(await download.outcome.isStored)
        try await cache.cache.close()
    }

    @Test func aDownloadThatWaitsCanBeCancelled() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        try await cache.cache.suspend()
        let downloader = cache.downloader()
        let download = downloader.prefetch(DownloadRequest(server.url()))
        await downloader.cancelAll()
        #expect(await download.outcome == .cancelled(keptBytes: 0))
        try await cache.cache.resume()
        #expect(server.requests.isEmpty)
        try await cache.cache.close()
    }

    @Test func aDownloadThatWaitsEndsWithTheCache() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        try await cache.cache.suspend()
        let download = cache.downloader().prefetch(DownloadRequest(server.url()))
        try await cache.cache.close()
        #expect(await download.outcome.error?.reason == .cache(.closed))
    }

    @Test func aCancelledDownloadEndsAsThatThoughTheCacheIsClosedMeanwhile() async throws {
        let gate = Gate()
        let server = try HTTPTestServer { resource.answer(to: $0).after(100_000) { gate.wait() } }
        let download = cache.downloader().prefetch(DownloadRequest(server.url()))
        await download.hasReceived(1)
        download.cancel()
        try await cache.cache.close()
        #expect(await download.outcome == .cancelled(keptBytes: 0))
        gate.open()
    }
}
