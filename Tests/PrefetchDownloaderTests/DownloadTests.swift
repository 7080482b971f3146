import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Downloads from a server that behaves.
@Suite struct DownloadTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    @Test func theContentIsInTheCacheAsItWasServed() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        let outcome = await cache.download(
            DownloadRequest(
                server.url(), "item", .sha256(contentDigest), .length(5_500_000)))
        guard case .stored(let summary) = outcome else { Issue.record("\(outcome)"); return }
        #expect(summary.contentBytes == 5_500_000)
        #expect(try await cache.holds(content))
        #expect(try await cache.cache.metadata(of: "item")?.validator.entityTag == "\"1\"")
        #expect(server.requests.count == 1)
        #expect(server.requests[0].headers["accept-encoding"] == "gzip, deflate")
        #expect(server.requests[0].headers["range"] == nil)
    }

    @Test(arguments: [
        (nil, nil, "PrefetchCache/\(PrefetchCache.version)"), ("Reader/2", nil, "Reader/2"),
        ("Reader/2", "Player/3", "Player/3"),
    ])
    func requestsSayWhoSendsThem(configured: String?, ofRequest: String?, sent: String) async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        var urlRequest = URLRequest(url: server.url())
        urlRequest.setValue(ofRequest, forHTTPHeaderField: "User-Agent")
        let downloader = cache.downloader { if let configured { $0.userAgent = configured } }
        let request = DownloadRequest(urlRequest, key: "item")
        #expect(await downloader.prefetch(request).outcome.isStored)
        #expect(server.requests.map { $0.headers["user-agent"] } == [sent])
        #expect(downloader.urlRequest(for: request).value(forHTTPHeaderField: "User-Agent") == sent)
    }

    @Test(arguments: [true, false])
    func whatTheUserAsksForAndIsCachedIsOpened(isAskedFor: Bool) async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        var request = DownloadRequest(server.url())
        request.whenCached = isAskedFor ? .revalidate : .keep
        #expect(await cache.download(request).isStored)
        request.intent = .userRequested
        let file = try #require(await cache.download(request).delivered)
        #expect(try isContent(file.url))
        #expect(server.requests.count == (isAskedFor ? 2 : 1))
        #expect(try await cache.cache.items().isEmpty)
    }

    @Test func whatTheUserAskedForIsAtItsDestination() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        let request = DownloadRequest(server.url()).userRequested
        let file = try #require(await cache.download(request).delivered)
        #expect(try isContent(file.url))
        #expect(try await cache.cache.items().isEmpty)
        // And once more.
        let same = try #require(await cache.download(request).alreadyPromoted)
        #expect(same.path == file.path)
        #expect(server.requests.count == 1)
    }

    @Test func anEmptyContentIsAContent() async throws {
        let server = try HTTPTestServer { _ in TestAnswer(200) }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(try await cache.holds(Data()))
    }

    @Test(arguments: [ContentExpectation.length(5_500_000), .sha256(contentDigest)])
    func aContentThatEndsWithItsConnectionIsStoredIfItIsAsExpected(expected: ContentExpectation) async throws
    {
        let server = try HTTPTestServer { _ in TestAnswer(200, body: content).endingWithItsConnection }
        #expect(await cache.download(DownloadRequest(server.url(), "item", expected)).isStored)
        #expect(try await cache.holds(content))
    }

    @Test func eventsTellTheWholeStory() async throws {
        let gate = Gate()
        let server = try HTTPTestServer { resource.answer(to: $0).after(0) { gate.wait() } }
        let download = cache.downloader().prefetch(DownloadRequest(server.url()))
        let stream = download.events
        gate.open()
        var events: [DownloadEvent] = []
        for await event in stream { events.append(event) }
        #expect(events.first == .started)
        guard case .finished(.stored)? = events.last else { Issue.record("\(events)"); return }
        let progress = events.compactMap { event in
            if case .progress(let progress) = event { progress } else { nil }
        }
        #expect(events.count == progress.count + 2)
        #expect(progress.map(\.completedBytes) == progress.map(\.completedBytes).sorted())
        #expect(progress.last == DownloadProgress(completedBytes: 5_500_000, totalBytes: 5_500_000))
        // Whoever comes late still learns of the end.
        var late: [DownloadEvent] = []
        for await event in download.events { late.append(event) }
        #expect(late == [.started, try #require(events.last)])
    }

    @Test func manyDownloadsShareFewConnections() async throws {
        let server = try HTTPTestServer { TestAnswer(200, body: Data($0.target.utf8)) }
        let requests = try (0..<40).map { number in
            DownloadRequest(server.url("/\(number)"), try ItemKey("item \(number)"))
        }
        let downloads = cache.downloader().prefetch(requests)
        for download in downloads { #expect(await download.outcome.isStored) }
        for number in 0..<40 {
            #expect(try await cache.cache.read(ItemKey("item \(number)")) == Data("/\(number)".utf8))
        }
        // Two, but that one which has waited for minutes on a busy machine is not used again.
        #expect(server.connections < 10)
    }
}
