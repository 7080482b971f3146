import FileSystemTestSupport
import Foundation
import HTTPTestServer
import SystemPackage
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Serves 10,000 bytes for every target, or half as many and up to that more, others for each.
private func server(varying: Bool = false) throws -> HTTPTestServer {
    try HTTPTestServer { request in
        let seed = request.target.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
        let length = varying ? 5000 + Int(seed % 10_000) : 10_000
        return TestAnswer(200, ["ETag": "\"1\""], body: noise(length, seed: seed))
    }
}

/// Lists that exceed the budget, handed over at every launch.
@Suite struct FeedTests {
    static let length = 10_000
    static let count = 240
    static let budget = ByteCount.bytes(1_000_000)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    enum Order: CaseIterable {
        case same, ascending, descending, bySource
    }

    /// Hands the whole list over, as an app does at its launch, and waits for the end of all downloads.
    private func launch(
        _ names: [String], _ server: HTTPTestServer, announced: Bool = true,
        _ order: Order = .same,
        _ policy: EvictionPolicyChoice = .lru, _ admission: AdmissionMode = .evicting, transfers: Int = 4,
        sources: Int = 1, budget: ByteCount = Self.budget
    ) async throws -> (bytes: Int64, requests: Int, evicted: Int64, cached: Set<String>) {
        let (before, requestsBefore) = (server.bodyBytesSent, server.requests.count)
        let cache = try await PrefetchCache(areas: .container(at: URL(filePath: folder.path.string)))
        try await cache.configure {
            $0.budget = .fixed(budget)
            $0.evictionPolicy = policy
        }
        let evictedBefore = try await cache.statistics().evictions
        var configuration = DownloaderConfiguration(hosts: ["127.0.0.1"])
        configuration.transfers = transfers
        let downloader = PrefetchDownloader(cache: cache, configuration: configuration, logger: .silent)
        let requests = try names.enumerated().map { index, name in
            var request = DownloadRequest(server.url("/\(name)"), try ItemKey(name))
            if announced { request.expectations = [.length(Int64(Self.length))] }
            request.whenCached = .keep
            request.admission = admission
            let source = name.utf8.reduce(0) { $0 + Int($1) } % sources
            request.source = "source \(source)"
            switch order {
            case .same: break
            case .ascending: request.priority = Float(index) / 1000
            case .descending: request.priority = 1 - Float(index) / 1000
            case .bySource: request.priority = 1 - Float(source) / 10
            }
            return request
        }
        for download in downloader.prefetch(requests) {
            switch await download.outcome {
            case .stored, .alreadyCached, .refused: break
            case let outcome: Issue.record("\(outcome)")
            }
            // As the maintenance in the background, which runs at times of its own.
            try await cache.trim()
        }
        let cached = Set(try await cache.items().map(\.key.string))
        let evicted = try await cache.statistics().evictions - evictedBefore
        try await cache.close()
        return (
            server.bodyBytesSent - before, server.requests.count - requestsBefore, evicted, cached
        )
    }

    private let names = (1...count).map { "item-\($0)" }

    @Test(
        arguments: TestRun.sample(
            2, of: [true, false].flatMap { announced in Order.allCases.map { (announced, $0) } }))
    func anUnchangedListIsNotDownloadedAgain(announced: Bool, order: Order) async throws {
        let server = try PrefetchDownloaderTests.server()
        let first = try await launch(names, server, announced: announced, order)
        #expect(first.cached.count >= 20)
        for _ in 0..<2 {
            let again = try await launch(names, server, announced: announced, order)
            // Transfers that overlap may all find the last place free: 4 of 240 items, less than 2 %.
            #expect(again.bytes * 50 <= Int64(Self.count * Self.length))
            #expect(again.cached.symmetricDifference(first.cached).count <= 8)
        }
    }

    @Test func theBeginningOfTheListIsKept() async throws {
        let server = try PrefetchDownloaderTests.server()
        let first = try await launch(names, server, transfers: 1)
        #expect(first.cached == Set(names.prefix(first.cached.count)))
        // The rows of the last items may take the space of one that was admitted.
        #expect(first.bytes <= Int64((first.cached.count + 1) * Self.length))

        // A new item takes the place of the last one.
        let second = try await launch(["new"] + names, server)
        #expect(second.bytes == Int64(Self.length))
        #expect(second.cached == Set(["new"] + names.prefix(first.cached.count - 1)))
    }

    /// Nothing is known of the lengths beforehand.
    @Test func whatHasNoRoomIsNotRequested() async throws {
        let server = try PrefetchDownloaderTests.server()
        let first = try await launch(
            names, server, announced: false, .bySource, sources: 6)
        #expect(first.requests <= first.cached.count + 24)
        // Of some sources nothing could be stored, so that the history has nothing of them.
        let again = try await launch(
            names, server, announced: false, .bySource, sources: 6)
        #expect(again.requests <= 24)
        #expect(again.evicted <= 4)
    }

    /// One list of several sources, which exceeds the budget, and has a new item at each launch.
    @Test func roomIsNotMadeOfWhatComesNext() async throws {
        let server = try PrefetchDownloaderTests.server(varying: true)
        let names = (1...400).map { "item-\($0)" }
        for number in 0..<3 {
            let launched = try await launch(
                (0..<number).map { "new-\($0)" } + names, server, announced: false,
                .descending, sources: 5, budget: .mebibytes(2))
            #expect(launched.requests <= (number == 0 ? launched.cached.count + 24 : 24))
            #expect(launched.evicted <= 6)
        }
    }

    @Test func anotherFeedGivesWay() async throws {
        let server = try PrefetchDownloaderTests.server()
        let old = (1...Self.count).map { "old-\($0)" }
        _ = try await launch(old, server)
        let new = try await launch(names, server)
        #expect(new.cached.isSubset(of: names))
    }

    @Test func whatIsForFreeSpaceOnlyDisplacesNothing() async throws {
        let server = try PrefetchDownloaderTests.server()
        let first = try await launch(Array(names.prefix(10)), server)
        let old = (1...Self.count).map { "old-\($0)" }
        let second = try await launch(
            old, server, .same, .lru, .onlyIntoFreeSpace, transfers: 1)
        #expect(second.cached.isSuperset(of: first.cached))
        #expect(second.cached.count >= 20)
        #expect(second.bytes == Int64((second.cached.count - 10) * Self.length))
    }
}

/// Which requests are of one list.
@Suite struct RoundsTests {
    private func request(_ name: String, from source: String = "feed") throws -> DownloadRequest {
        var request = DownloadRequest(
            try #require(URL(string: "https://example.org/\(name)")), try ItemKey(name))
        request.source = source
        return request
    }

    /// The list that a request joins when it is handed over at a time.
    private func round(_ name: String, from source: String = "feed", at now: Int64, in rounds: inout Rounds)
        throws -> Round
    {
        let request = try request(name, from: source)
        rounds.begin(with: request, now: now)
        return rounds.turn(of: request).round
    }

    @Test func eachSourceHasItsOwn() throws {
        var rounds = Rounds()
        let first = try round("a", at: 0, in: &rounds)
        #expect(try round("b", at: 0, in: &rounds) === first)
        #expect(try round("c", from: "other", at: 0, in: &rounds) !== first)
    }

    @Test func whatIsHandedOverAgainBeginsTheListAgain() throws {
        var rounds = Rounds()
        let first = try round("a", at: 0, in: &rounds)
        #expect(try round("a", at: 1, in: &rounds) !== first)
    }

    @Test(arguments: [(Int64(60), true), (61, false), (-1, false)])
    func aPauseOfMoreThanAMinuteEndsIt(seconds: Int64, isSame: Bool) throws {
        var rounds = Rounds()
        let first = try round("a", at: 1000, in: &rounds)
        // As long as downloads are under way, it goes on.
        #expect(try round("b", at: 5000, in: &rounds) === first)
        rounds.pause(now: 10_000)
        #expect((try round("c", at: 10_000 + seconds, in: &rounds) === first) == isSame)
    }

    @Test func aDayEndsIt() throws {
        var rounds = Rounds()
        let first = try round("a", at: 1000, in: &rounds)
        #expect(try round("b", at: 87_400, in: &rounds) === first)
        #expect(try round("c", at: 87_401, in: &rounds) !== first)
    }
}

/// Sources whose items nobody opens are not downloaded, if the app wants that.
@Suite struct GateTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private static let count = 30

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
        _ requests: [DownloadRequest], in cache: TestCache, isGated: Bool = true
    ) async -> (stored: Int, paused: Int) {
        var (stored, paused) = (0, 0)
        for download in cache.downloader({ $0.pausesUnopenedSources = isGated }).prefetch(requests) {
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
        let server = try PrefetchDownloaderTests.server()
        #expect(try await cache.cache.outlook().sources.filter(\.isPaused).map(\.source) == ["ignored"])

        let ignored = await stored(try requests(server, "ignored"), in: cache)
        #expect((1...8).contains(ignored.stored))
        #expect(ignored.stored + ignored.paused == Self.count)
        #expect(server.requests.count == ignored.stored)
        let loved = await stored(try requests(server, "loved"), in: cache)
        #expect(loved.stored == Self.count)

        let figures = try #require(
            try await cache.cache.history().bySource.first { $0.source == "ignored" }?.figures)
        #expect(figures[.refusedPaused] == Int64(ignored.paused))
        #expect(figures[.declined] == Int64(ignored.paused))
        #expect(figures[.fetchedBytes] == Int64(ignored.stored * 10_000))
    }

    @Test func theGateIsOpenByDefault() async throws {
        try await month(cache)
        let server = try PrefetchDownloaderTests.server()
        let all = await stored(Array(try requests(server, "ignored").prefix(10)), in: cache, isGated: false)
        #expect(all.stored == 10)
    }

    /// What was refused is remembered: whoever looks for it shows that the source is wanted again.
    @Test func interestThatReturnsOpensTheGate() async throws {
        try await month(cache)
        let server = try PrefetchDownloaderTests.server()
        let requests = try requests(server, "ignored")
        _ = await stored(requests, in: cache)
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
            let outcome = await cache.downloader({ $0.pausesUnopenedSources = true }).prefetch(request)
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
