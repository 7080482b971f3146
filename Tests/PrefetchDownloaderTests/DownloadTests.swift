import FileSystemTestSupport
import Foundation
import HTTPTestServer
import PrefetchCaching
import PrefetchItemFormat
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
        #expect(server.requests[0].headers["accept-encoding"] == "gzip")
        #expect(server.requests[0].headers["range"] == nil)
    }

    @Test(arguments: [
        (nil, nil, "PrefetchCache/\(PrefetchCache.version)"), ("Reader/2", nil, "Reader/2"),
        ("Reader/2", "Player/3", "Player/3"),
    ])
    func requestsSayWhoSendsThem(configured: String?, ofRequest: String?, sent: String) async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        let downloader = cache.downloader { if let configured { $0.userAgent = configured } }
        let request = DownloadRequest(server.url()).with(ofRequest.map { ["User-Agent": $0] } ?? [:])
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
        let (server, gate) = try heldServer(after: 0)
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

/// What an app prints without a thought is one line that says what happened.
@Suite struct OutcomeTextTests {
    @Test func anOutcomeIsOneLine() async throws {
        let cache = try await TestCache()
        let metadata = ItemMetadata(key: "key", destination: .documents("File.txt"))
        let stored = try await cache.cache.store(noise(10_000, seed: 1), as: metadata)
        #expect("\(stored)" == "stored 10000 bytes as 10135")
        #expect(
            "\(DownloadOutcome.refused(.disabled, keptBytes: 1 << 20))"
                == "refused (disabled): storing is switched off; 1048576 bytes are kept")
        #expect("\(DownloadOutcome.cancelled(keptBytes: 0))" == "cancelled")
        let file = try #require(try await cache.cache.open("key"))
        #expect("\(DownloadOutcome.alreadyPromoted(file))" == "already opened: \(file.path)")
        #expect("\(StoreOutcome.delivered(file))" == "delivered 10000 bytes to \(file.path)")
        let statistics = try await cache.cache.statistics()
        #expect("\(statistics)".hasPrefix("0 items of 0 bytes; 0 of "))
        #expect("\(statistics)".hasSuffix(" bytes charged; 1 hits, 0 misses"))
    }
}

/// Files that no backup contained are downloaded again.
@Suite struct RehydrationTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private func request(_ server: HTTPTestServer, _ key: ItemKey = "film")
        throws -> DownloadRequest
    {
        DownloadRequest(
            server.url("/film"), key: key,
            destination: .documents(try FileName("\(key).mp4"), in: "Films", backup: .exclude),
            attributes: [1, 2], recordedURL: server.url("/film"))
    }

    /// Downloads and opens a film, and removes its file as a restore would.
    private func loseFilm(
        _ cache: TestCache, _ server: HTTPTestServer
    ) async throws -> PromotedFile {
        #expect(await cache.download(try request(server)).isStored)
        let file = try #require(try await cache.cache.open("film"))
        try FileManager.default.removeItem(at: file.url)
        return file
    }

    @Test func aLostFileIsBackWhereItWas() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        let file = try await loseFilm(cache, server)
        let outcomes = try await cache.rehydrate()
        #expect(outcomes.count == 1)
        let again = try #require(outcomes["film"]?.delivered)
        #expect(again.path == file.path)
        #expect(try isContent(again.url))
        #expect(again.backup == .exclude)
        #expect(again.provenance?.url == server.url("/film"))
        #expect(again.provenance?.attributes == [1, 2])
        // Nothing is missing any more.
        #expect(try await cache.rehydrate().isEmpty)
        #expect(server.requests.count == 2)
    }

    @Test func otherContentIsNotTakenForTheLostFile() async throws {
        let server = try HTTPTestServer(
            inTurn: { TestResource(content).answer(to: $0) },
            { TestResource(noise(content.count, seed: 2)).answer(to: $0) })
        let file = try await loseFilm(cache, server)
        let outcome = try #require(try await cache.rehydrate { $0.attempts = 1 }["film"])
        guard case .wrongDigest? = outcome.error?.reason else { Issue.record("\(outcome)"); return }
        #expect(!FileManager.default.fileExists(atPath: file.url.path))
    }

    @Test func aFileThatHasTakenTheNameStays() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        let file = try await loseFilm(cache, server)
        try Data("the user's".utf8).write(to: file.url)
        let outcomes = try await cache.rehydrate()
        #expect(try Data(contentsOf: file.url) == Data("the user's".utf8))
        // A file with the name counts as the promoted one, whatever the user has done to it.
        #expect(outcomes.isEmpty)
    }

    @Test func aURLWithAPasswordIsNotRecorded() async throws {
        let server = try HTTPTestServer { TestResource(content).answer(to: $0) }
        var request = try request(server)
        request.recordedURL = URL(string: "http://user:password@127.0.0.1/film")
        #expect(await cache.download(request).error?.reason == .cache(.item(.unsuitableURL)))
        #expect(server.requests.isEmpty)
    }
}
