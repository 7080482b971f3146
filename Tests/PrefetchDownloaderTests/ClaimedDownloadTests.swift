import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Two processes that want the same: here two caches in one folder.
@Suite struct ClaimedDownloadTests {
    private let cache: TestCache
    private let other: TestCache

    init() async throws {
        cache = try await TestCache()
        other = try await TestCache(sharing: cache)
    }

    /// A download of which some has arrived. Whoever asks next has the rest at once.
    private func begin() async throws -> (server: HTTPTestServer, gate: Gate, first: Download) {
        let gate = Gate()
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).after(2_200_000) { gate.wait() } }, { resource.answer(to: $0) })
        let first = cache.downloader().prefetch(DownloadRequest(server.url()))
        await first.hasReceived(2_200_000)
        return (server, gate, first)
    }

    @Test func contentIsFetchedOnce() async throws {
        let (server, gate, first) = try await begin()
        other.clock.stop(after: 3)
        let second = other.downloader().prefetch(DownloadRequest(server.url()))
        await other.clock.hasSlept(3)
        #expect(server.requests.count == 1)
        gate.open()
        #expect(await first.outcome.isStored)
        other.clock.goOn()
        // Without asking whether it is the newest version: it is as new as an answer would be.
        #expect(await second.outcome == .alreadyCached)
        #expect(server.requests.count == 1)
        #expect(other.clock.slept.prefix(3) == [.milliseconds(50), .milliseconds(100), .milliseconds(200)])
    }

    @Test func whatFailsElsewhereIsFetchedHere() async throws {
        let gate = Gate()
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).after(2_200_000) { gate.wait() }.cut(after: 2_200_000) },
            { resource.answer(to: $0) })
        let first = cache.downloader { $0.attempts = 1 }.prefetch(DownloadRequest(server.url()))
        await first.hasReceived(2_200_000)
        other.clock.stop(after: 1)
        let second = other.downloader().prefetch(DownloadRequest(server.url()))
        await other.clock.hasSlept(1)
        gate.open()
        #expect(await first.outcome.error != nil)
        other.clock.goOn()
        #expect(await second.outcome.isStored)
        #expect(server.requests.map(\.rangeStart) == [nil, 2 << 20])
    }

    /// What another process prefetches is not fetched again, as long as it arrives there.
    @Test func whatArrivesElsewhereIsTheUsers() async throws {
        let (server, gate, first) = try await begin()
        other.clock.stop(after: 3)
        let wanted = DownloadRequest(server.url()).userRequested
        let second = other.downloader().prefetch(wanted)
        await other.clock.hasSlept(3)
        gate.open()
        #expect(await first.outcome.isStored)
        other.clock.goOn()
        let file = try #require(await second.outcome.delivered)
        #expect(try isContent(file.url))
        #expect(server.requests.count == 1)
        #expect(other.clock.slept.allSatisfy { $0 <= .milliseconds(200) })
    }

    @Test func theUserWaitsForNobodyWhoReceivesNothing() async throws {
        let (server, gate, first) = try await begin()
        let wanted = DownloadRequest(server.url()).userRequested
        #expect(await other.downloader().prefetch(wanted).outcome.delivered != nil)
        let waited = other.clock.slept.reduce(.zero, +)
        #expect((Waits.longestForUser..<Waits.longestForUser + .seconds(1)).contains(waited))
        gate.open()
        _ = await first.outcome
    }

    /// Nor behind a download of the same key that does.
    @Test func whatTheUserWantsMeanwhileGoesOn() async throws {
        let (server, gate, first) = try await begin()
        let downloader = other.downloader()
        let waiting = downloader.prefetch(DownloadRequest(server.url()))
        await other.clock.hasSlept(1)
        let wanted = DownloadRequest(server.url()).userRequested
        #expect(await downloader.prefetch(wanted).outcome.delivered != nil)
        #expect(await waiting.outcome.isStored)
        gate.open()
        _ = await first.outcome
    }

    /// A frozen process appears to be running, and of a process in another namespace nothing is known.
    @Test func whoReceivesNothingIsNotWaitedForForEver() async throws {
        let (server, gate, first) = try await begin()
        let second = other.downloader().prefetch(DownloadRequest(server.url()))
        let outcome = await withTaskGroup(of: DownloadOutcome?.self) { group in
            group.addTask { await second.outcome }
            group.addTask { [clock = other.clock] in
                // Twice as often as it should.
                await clock.hasSlept(130)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        second.cancel()
        #expect(outcome?.isStored == true)
        let waited = other.clock.slept.reduce(.zero, +)
        #expect((Waits.longest..<Waits.longest + .seconds(5)).contains(waited))
        gate.open()
        _ = await first.outcome
    }

    @Test func whoReceivesSomethingIsWaitedFor() {
        var waits = Waits()
        for number in 0..<1000 {
            _ = waits.next(after: Int64(number / 50), forUser: false)
            #expect(!waits.areInVain(forUser: false))
        }
    }

    @Test func whoWaitsCanBeCancelled() async throws {
        let (server, gate, first) = try await begin()
        other.clock.stop(after: 1)
        let second = other.downloader().prefetch(DownloadRequest(server.url()))
        await other.clock.hasSlept(1)
        second.cancel()
        #expect(await second.outcome == .cancelled(keptBytes: 0))
        gate.open()
        #expect(await first.outcome.isStored)
    }
}

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
        let (server, gate) = try heldServer(after: 100_000)
        let download = cache.downloader().prefetch(DownloadRequest(server.url()))
        await download.hasReceived(1)
        download.cancel()
        try await cache.cache.close()
        #expect(await download.outcome == .cancelled(keptBytes: 0))
        gate.open()
    }
}
