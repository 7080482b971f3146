import FileSystemTestSupport
import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// What a downloader tells of all its downloads.
@Suite struct DownloadTotalsTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    @Test func bytesAreCountedOnceReceivedAgainAndInVain() async throws {
        let server = try HTTPTestServer(breakingAt: 3_400_000)
        let downloader = cache.downloader()
        #expect(downloader.totals == DownloadTotals())
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome.isStored)
        // Two complete requests' worth, but for what was resumed; the incomplete chunk was received twice.
        let lost = Int64(3_400_000 - 3 << 20)
        #expect(downloader.totals.requests == 2)
        #expect(downloader.totals.receivedBytes == Int64(content.count) + lost)
        #expect(downloader.totals.repeatedBytes == lost)
        #expect(downloader.totals.wastedBytes == lost)
        // Unchanged: a request and no bytes.
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome == .notModified)
        #expect(downloader.totals.requests == 3)
        #expect(downloader.totals.receivedBytes == Int64(content.count) + lost)
    }

    @Test func redirectsAreRequestsToo() async throws {
        let server = try HTTPTestServer { request in
            guard request.target != "/there" else { return resource.answer(to: request) }
            var answer = TestAnswer()
            answer.status = 302
            answer.headers["Location"] = "/there"
            return answer
        }
        let downloader = cache.downloader()
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome.isStored)
        #expect(downloader.totals.requests == 2)
    }

    @Test func everyDownloadIsInTheStreamOnce() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let downloader = cache.downloader()
        let (events, others) = (downloader.events, downloader.events)
        let requests = try (0..<3).map { DownloadRequest(server.url("/\($0)"), try ItemKey("item-\($0)")) }
        // Two handles on the first.
        let downloads = downloader.prefetch(requests) + [downloader.prefetch(requests[0])]
        for stream in [events, others] {
            var outcomes: [ItemKey: DownloadOutcome] = [:]
            var last: [ItemKey: Int64] = [:]
            for await event in stream {
                #expect(event.source == requests[0].source)
                switch event.event {
                case .progress(let progress):
                    #expect(progress.completedBytes > last[event.key, default: 0])
                    last[event.key] = progress.completedBytes
                case .finished(let outcome):
                    #expect(outcomes[event.key] == nil)
                    outcomes[event.key] = outcome
                default: break
                }
                if outcomes.count == requests.count { break }
            }
            #expect(outcomes["item-0"] == (await downloads[0].outcome))
            #expect(Set(last.values) == [Int64(content.count)])
        }
    }

    @Test func theStreamEndsWithTheDownloader() async throws {
        var downloader: PrefetchDownloader? = cache.downloader()
        let events = try #require(downloader).events
        downloader = nil
        for await event in events { Issue.record("\(event)") }
    }
}
