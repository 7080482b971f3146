import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sources whose items nobody opens are not downloaded, if the app wants that.
@Suite struct GateTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private static let count = 30

    private func server() throws -> HTTPTestServer {
        try HTTPTestServer { request in
            let seed = request.target.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
            return TestAnswer(200, ["ETag": "\"1\""], body: noise(10_000, seed: seed))
        }
    }

    /// A month in which everything of one source was opened and nothing of the other.
    private func month(_ cache: TestCache) async throws {
        for number in 0..<Self.count {
            for source in ["loved", "ignored"] {
                let key = try ItemKey("\(source) \(number)")
                let metadata = ItemMetadata(key: key, source: source, destination: .documents("File"))
                _ = try await cache.cache.store(noise(10_000, seed: UInt64(number)), as: metadata)
                if source == "loved" { _ = try await cache.cache.open(key) }
            }
        }
        // Items of the other are a day old, and were not opened.
        _ = try await cache.cache.history()
        cache.time.advance(by: 10 * 86_400_000)
    }

    private func requests(_ server: HTTPTestServer, _ source: String) throws -> [DownloadRequest] {
        try (0..<Self.count).map { number in
            var request = DownloadRequest(
                server.url("/\(source)/\(number)"), try ItemKey("new \(source) \(number)"))
            request.source = source
            request.destination = .documents("New")
            return request
        }
    }

    private func stored(
        _ requests: [DownloadRequest], in cache: TestCache, _ gate: DownloadGate
    ) async -> (stored: Int, paused: Int) {
        var (stored, paused) = (0, 0)
        for download in cache.downloader({ $0.gate = gate }).prefetch(requests) {
            switch await download.outcome {
            case .stored: stored += 1
            case .refused(.paused, keptBytes: 0): paused += 1
            case let outcome: Issue.record("\(outcome)")
            }
        }
        return (stored, paused)
    }

    @Test func aSourceThatNobodyOpensIsPausedButForATrickle() async throws {
        try await month(cache)
        let server = try server()
        #expect(try await cache.cache.outlook().sources.filter(\.isPaused).map(\.source) == ["ignored"])

        let ignored = await stored(try requests(server, "ignored"), in: cache, .pausingUnopenedSources)
        #expect((1...8).contains(ignored.stored))
        #expect(ignored.stored + ignored.paused == Self.count)
        #expect(server.requests.count == ignored.stored)
        let loved = await stored(try requests(server, "loved"), in: cache, .pausingUnopenedSources)
        #expect(loved.stored == Self.count)

        let figures = try #require(
            try await cache.cache.history().bySource.first { $0.source == "ignored" }?.figures)
        #expect(figures[.refusedPaused] == Int64(ignored.paused))
        #expect(figures[.declined] == Int64(ignored.paused))
        #expect(figures[.fetchedBytes] == Int64(ignored.stored * 10_000))
    }

    @Test func theGateIsOpenByDefaultAndForWhatIsWantedAnyway() async throws {
        try await month(cache)
        let server = try server()
        var requests = try requests(server, "ignored")
        let all = await stored(Array(requests.prefix(10)), in: cache, .open)
        #expect(all.stored == 10)
        requests = requests.suffix(10).map { request in
            var request = request
            request.passesGate = true
            return request
        }
        let passing = await stored(requests, in: cache, .pausingUnopenedSources)
        #expect(passing.stored == 10)
    }

    /// What another session has downloaded is refused as late as that, and stays where it is.
    @Test func filesOfOtherSessionsPassTheGateToo() async throws {
        try await month(cache)
        let (source, file) = (try server(), cache.container.appending(path: "download.tmp"))
        let downloader = cache.downloader { $0.gate = .pausingUnopenedSources }
        var refused = 0
        for request in try requests(source, "ignored") + requests(source, "loved") {
            try noise(10_000).write(to: file)
            let url = try #require(request.urlRequest.url)
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil, headerFields: ["Content-Length": "10000"]))
            switch await downloader.finish(request, fileAt: file, response: response) {
            case .refused(.paused, keptBytes: 0):
                refused += 1
                #expect(request.source == "ignored" && FileManager.default.fileExists(atPath: file.path))
            case .stored: #expect(!FileManager.default.fileExists(atPath: file.path))
            case let outcome: Issue.record("\(outcome)")
            }
        }
        #expect((22..<Self.count).contains(refused))
    }

    /// What was refused is remembered: whoever looks for it shows that the source is wanted again.
    @Test func interestThatReturnsOpensTheGate() async throws {
        try await month(cache)
        let server = try server()
        let requests = try requests(server, "ignored")
        _ = await stored(requests, in: cache, .pausingUnopenedSources)
        for request in requests { _ = try await cache.cache.open(request.key) }
        _ = try await cache.cache.history()
        let figures = try #require(
            try await cache.cache.history().bySource.first { $0.source == "ignored" }?.figures)
        #expect(figures[.wantedOfDay] == figures[.declined])

        cache.time.advance(by: 86_400_000)
        #expect(try await cache.cache.outlook().sources.filter(\.isPaused).isEmpty)
    }

    /// What was declined, missed and followed by other changes before any of it was written is counted in that order.
    @Test func aMissIsOfWhatWasDeclinedJustBefore() async throws {
        try await month(cache)
        let requests = try requests(try server(), "ignored")
        // Whatever the trickle lets through is stored, which follows the miss.
        for request in requests {
            let outcome = await cache.downloader({ $0.gate = .pausingUnopenedSources }).prefetch(request)
                .outcome
            guard case .refused = outcome else { continue }
            _ = try await cache.cache.open(request.key)
            _ = try await cache.cache.read("ignored 0")
        }
        let figures = try await cache.cache.history().total
        #expect(figures[.declined] > 0)
        #expect(figures[.wantedOfDay] == figures[.declined])
    }

    @Test func bytesThatAreFetchedAgainOrInVainAreCounted() async throws {
        let body = noise(3_000_000)
        // Without a validator nothing is kept, and the second attempt begins anew.
        let server = try HTTPTestServer(
            inTurn: { _ in TestAnswer(200, body: body).cut(after: 1_000_000) },
            { _ in TestAnswer(200, body: body) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        var figures = try await cache.cache.history().total
        #expect((3_000_001...4_000_000).contains(figures[.fetchedBytes]))
        let first = figures[.fetchedBytes] - 3_000_000
        #expect(figures[.fetchedInVainBytes] == first)
        #expect(figures[.fetchedAgainBytes] == first)

        // It is evicted unopened, and downloaded once more.
        _ = try await cache.cache.evict(EvictionRequest())
        let again = try HTTPTestServer { _ in TestAnswer(200, body: body) }
        #expect(await cache.download(DownloadRequest(again.url())).isStored)
        figures = try await cache.cache.history().total
        #expect(figures[.fetchedAgainBytes] == first + 3_000_000)
        #expect(figures[.fetchedInVainBytes] == first)
    }
}
