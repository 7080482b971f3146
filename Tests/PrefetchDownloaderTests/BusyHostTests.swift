import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Servers that answer that there are too many requests.
@Suite struct BusyHostTests {
    private let cache: TestCache
    private let content = Data("content".utf8)

    init() async throws {
        cache = try await TestCache()
        // Whoever waits waits until the test goes on.
        cache.clock.stop(after: 0)
    }

    private func requests(_ server: HTTPTestServer, _ names: [String]) throws -> [DownloadRequest] {
        try names.map { DownloadRequest(server.url("/\($0)"), try ItemKey($0)) }
    }

    @Test(arguments: [429, 503])
    func allDownloadsLeaveTheHostAloneAndOthersGoOn(status: Int) async throws {
        let server = try HTTPTestServer(
            inTurn: { _ in TestAnswer(status, ["Retry-After": "17"]) },
            { [content] _ in TestAnswer(body: content) })
        let downloader = cache.downloader { $0.transfersPerHost = 1 }
        let downloads = downloader.prefetch(try requests(server, ["a", "b", "c", "d"]))
        await cache.clock.hasSlept(1)
        let urgent = DownloadRequest(server.url("/urgent"), "urgent").userRequested
        let wanted = downloader.prefetch(urgent)
        let other = DownloadRequest(server.url("/other", host: "localhost"), "other")
        #expect(await downloader.prefetch(other).outcome.isStored)
        #expect(server.requests.map(\.target) == ["/a", "/other"])
        cache.clock.goOn()
        for download in downloads { #expect(await download.outcome.isStored) }
        #expect(await wanted.outcome.delivered != nil)
        #expect(cache.clock.slept == [.seconds(17)])
        #expect(server.requests.count == 7)
    }

    /// Whichever download asks, it is the next try of all.
    @Test func theBackoffIsThatOfTheHost() async throws {
        let server = try HTTPTestServer(
            inTurn: { _ in TestAnswer(503) }, { _ in TestAnswer(503) },
            { [content] _ in TestAnswer(body: content) },
            { _ in TestAnswer(429) }, { [content] _ in TestAnswer(body: content) })
        let downloader = cache.downloader { $0.transfersPerHost = 1 }
        var downloads = downloader.prefetch(try requests(server, ["a", "b"]))
        await cache.clock.hasSlept(1)
        var first = DownloadRequest(server.url("/first"), "first")
        first.priority = 1
        downloads.append(downloader.prefetch(first))
        cache.clock.goOn()
        for download in downloads { #expect(await download.outcome.isStored) }
        #expect(server.requests.prefix(2).map(\.target) == ["/a", "/first"])
        // What was sent in between ends the row.
        #expect(cache.clock.slept == [.seconds(1), .seconds(2), .seconds(1)])
    }

    @Test func aHostThatWantsALongPauseIsNotAskedForTheRest() async throws {
        let server = try HTTPTestServer(
            inTurn: { _ in TestAnswer(429, ["Retry-After": "86400"]) },
            { [content] _ in TestAnswer(body: content) })
        let downloader = cache.downloader { $0.transfersPerHost = 1 }
        let reason = DownloadError.Reason.status(429, retryAfter: .seconds(86_400))
        for download in downloader.prefetch(try requests(server, ["a", "b", "c", "d"])) {
            #expect(await download.outcome.error?.reason == reason)
        }
        #expect(server.requests.count == 1)
        // Not for the day, but for as long as any download waits.
        #expect(cache.clock.slept == [.seconds(120)])
        let other = DownloadRequest(server.url("/other", host: "localhost"), "other")
        #expect(await downloader.prefetch(other).outcome.isStored)
        cache.clock.goOn()
        var outcome: DownloadOutcome
        repeat {
            outcome = await downloader.prefetch(DownloadRequest(server.url("/later"), "later")).outcome
        } while outcome.error?.reason == reason
        #expect(outcome.isStored)
    }

    @Test func whoWaitsForAHostCanBeCancelled() async throws {
        let server = try HTTPTestServer { _ in TestAnswer(503) }
        let downloads = cache.downloader { $0.transfersPerHost = 1 }
            .prefetch(try requests(server, ["a", "b"]))
        await cache.clock.hasSlept(1)
        for download in downloads { download.cancel() }
        for download in downloads { #expect(await download.outcome == .cancelled(keptBytes: 0)) }
        #expect(server.requests.count == 1)
        cache.clock.goOn()
    }
}
