import Foundation
import HTTPTestServer
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading

/// Downloads that break off and go on.
@Suite struct ResumeTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private static let chunk: Int64 = 1 << 20

    @Test func aBrokenConnectionCostsLessThanAChunk() async throws {
        let server = try HTTPTestServer(breakingAt: 3_400_000)
        let download = cache.downloader().prefetch(
            DownloadRequest(server.url(), "item", .sha256(contentDigest)))
        #expect(await download.outcome.isStored)
        #expect(try await cache.holds(content))
        #expect(server.requests.count == 2)
        #expect(server.requests[1].rangeStart == 3 << 20)
        #expect(server.requests[1].headers["if-range"] == "\"1\"")
        #expect(cache.clock.slept == [.seconds(1)])
        // The incomplete chunk was received twice, the first time in vain.
        let (figures, lost) = (try await cache.cache.history().total, Int64(3_400_000 - 3 << 20))
        #expect(figures[.fetchedBytes] == Int64(content.count) + lost)
        #expect(figures[.fetchedAgainBytes] == lost && figures[.fetchedInVainBytes] == lost)
    }

    /// A server that is just being restarted accepts and says nothing.
    @Test func aConnectionThatIsClosedBeforeItsAnswerIsTriedAgain() async throws {
        let server = try HTTPTestServer(
            inTurn: { _ in
                var answer = TestAnswer()
                answer.isSilent = true
                answer.ending = .drop
                return answer
            }, { resource.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(server.requests.count == 2)
        #expect(cache.clock.slept == [.seconds(1)])
    }

    @Test func everyTryThatBringsItFurtherIsTheFirstOfANewRow() async throws {
        let server = try HTTPTestServer { request in resource.answer(to: request).cut(after: 1_100_000) }
        // Five tries bring it to five chunks, and the sixth and last piece is shorter than that.
        let outcome = await cache.download(DownloadRequest(server.url())) { $0.attempts = 2 }
        #expect(outcome.isStored)
        #expect(server.requests.map(\.rangeStart) == [nil, 1, 2, 3, 4, 5].map { $0.map { $0 << 20 } })
        #expect(try await cache.holds(content))
    }

    @Test func aTryThatBringsNothingCounts() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: 700_000) }
        let outcome = await cache.download(DownloadRequest(server.url())) { $0.attempts = 3 }
        #expect(outcome.error?.reason == .truncated(received: 700_000, announced: 5_500_000))
        #expect(server.requests.count == 3)
        #expect(cache.clock.slept == [.seconds(1), .seconds(2)])
    }

    @Test func theNextDownloaderGoesOn() async throws {
        let gate = Gate()
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).cut(after: 2_200_000) },
            { resource.answer(to: $0).after(0) { gate.wait() } })
        let first = await cache.download(DownloadRequest(server.url())) { $0.attempts = 1 }
        #expect(first.error?.keptBytes == 2 << 20)
        #expect(try await cache.keptBytes() == 2 << 20)
        // The digest is that of the whole, what was downloaded before included.
        let second = cache.downloader().prefetch(
            DownloadRequest(server.url(), "item", .sha256(contentDigest)))
        #expect(await second.event { $0 == .resumed(at: 2 << 20) } != nil)
        gate.open()
        #expect(await second.outcome.isStored)
        #expect(try await cache.holds(content))
        #expect(try await cache.keptBytes() == 0)
    }

    /// The partial had been taken over by then.
    @Test func aServerThatIsGoneLeavesThePartial() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: 2_200_000) }
        _ = await cache.download(DownloadRequest(server.url())) { $0.attempts = 1 }
        server.close()
        let error = await cache.download(DownloadRequest(server.url())) { $0.attempts = 1 }.error
        guard case .connection? = error?.reason else { Issue.record("stored"); return }
        #expect(error?.keptBytes == 2 << 20)
        #expect(try await cache.keptBytes() == 2 << 20)
    }

    /// Half of it was prefetched when the user asked for it.
    @Test func whatTheUserAsksForGoesOnWhereItWas() async throws {
        let server = try HTTPTestServer(breakingAt: 2_200_000)
        var request = DownloadRequest(server.url(), "item", .sha256(contentDigest))
        _ = await cache.download(request) { $0.attempts = 1 }
        request.intent = .userRequested
        let file = try #require(await cache.download(request).delivered)
        #expect(try isContent(file.url))
        #expect(server.requests.last?.rangeStart == 2 << 20)
        #expect(try await cache.keptBytes() == 0)
        #expect(try await cache.cache.items().isEmpty)
    }

    /// The cache takes nothing more, and the user gets it all the same.
    @Test func whatTheUserAsksForDoesWithoutTheCache() async throws {
        let server = try HTTPTestServer(breakingAt: 2_200_000)
        var request = DownloadRequest(server.url())
        _ = await cache.download(request) { $0.attempts = 1 }
        try await cache.cache.configure { $0.isStoringEnabled = false }
        request.intent = .userRequested
        let file = try #require(await cache.download(request).delivered)
        #expect(try isContent(file.url))
        #expect(server.requests.last?.rangeStart == nil)
        #expect(try await cache.keptBytes() == 0)
    }

    /// What is damaged is cut off before the server is asked, and not asked for in the middle of an answer.
    @Test func aDamagedPartialIsAskedForFromWhereItIsSound() async throws {
        let server = try HTTPTestServer(breakingAt: 3_400_000)
        _ = await cache.download(DownloadRequest(server.url())) { $0.attempts = 1 }
        try cache.damagePartial("item", at: (2 << 20) + 1000)
        #expect(
            await cache.download(DownloadRequest(server.url(), "item", .sha256(contentDigest))).isStored)
        #expect(server.requests.map(\.rangeStart) == [nil, 2 << 20])
        #expect(try await cache.holds(content))
    }

    @Test func aDateServesWhereThereIsNoTag() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let dated = TestResource(content, entityTag: nil, lastModified: date)
        let server = try HTTPTestServer(
            inTurn: { dated.answer(to: $0).cut(after: 2_200_000) }, { dated.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(server.requests[1].headers["if-range"] == date)
        #expect(try await cache.holds(content))
    }

    /// A weak tag, no validator at all, and a date that is too young to tell two versions apart.
    @Test(arguments: [["ETag": "W/\"1\""], [:], ["Last-Modified": "young"]])
    func withoutASureValidatorItStartsAnew(headers: [String: String]) async throws {
        // However long the test takes.
        let young = Date(timeIntervalSinceNow: 3600).inHTTP
        let headers = headers.mapValues { $0 == "young" ? young : $0 }
        let bare = TestResource(content, entityTag: nil)
        let server = try HTTPTestServer(
            inTurn: { bare.answer(to: $0).with(headers).cut(after: 2_200_000) }, { bare.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(server.requests[1].headers["range"] == nil)
        #expect(try await cache.holds(content))
    }

    /// The server changes a content twice within a second. By this machine's clock that was decades ago.
    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:36 GMT", nil])
    func twoVersionsOfOneSecondAreNotSpliced(sent: String?) async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let old = TestResource(content, entityTag: nil, lastModified: date)
        let new = TestResource(noise(5_500_000, seed: 2), entityTag: nil, lastModified: date)
        let server = try HTTPTestServer(
            inTurn: { request in
                var answer = old.answer(to: request).cut(after: 2_200_000)
                answer.headers["Date"] = sent
                answer.isDated = sent != nil
                return answer
            }, { new.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(try await cache.holds(new.content))
        #expect(server.requests.map(\.rangeStart) == [nil, nil])
    }

    /// How a server answers the request for the rest, and what is stored in the end.
    struct Rest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var first = resource
        let answer: HTTPTestServer.Handler
        var last = resource
        /// Where the requests begin.
        var starts = [nil, 2 << 20, nil]

        /// A range with these headers.
        static func range(
            _ name: String, _ headers: [String: String], of first: TestResource = resource,
            _ range: String = "bytes 2097152-5499999/5500000", last: TestResource = resource
        ) -> Rest {
            let headers = headers.merging(["Content-Range": range]) { $1 }
            return Rest(
                testDescription: "\(name) \(range)", first: first,
                answer: { _ in TestAnswer(206, headers, body: last.content.dropFirst(2 << 20)) }, last: last)
        }
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private static let rests: [Rest] = {
        let newer = TestResource(noise(5_500_000, seed: 2), entityTag: "\"2\"")
        let shorter = TestResource(noise(4_000_000, seed: 2), entityTag: "\"2\"")
        let dated = TestResource(content, entityTag: "W/\"1\"", lastModified: date)
        let unasked = [
            "bytes 0-3402847/5500000", "bytes 2097153-5499999/5500000", "bytes 2097152-5499998/5500000",
            "bytes 2097152-5499999/*", "bytes */5500000", "bytes=2097152-5499999/5500000", "nonsense", "",
        ]
        // All that these answers say of themselves is true. A part that is all of it is as good as any other answer.
        let elsewhere = [0, 1 << 20, (2 << 20) + 1].map { start in
            Rest(
                testDescription: "from \(start)",
                answer: { _ in
                    TestAnswer(
                        206, ["ETag": "\"1\"", "Content-Range": "bytes \(start)-5499999/5500000"],
                        body: content.dropFirst(start))
                }, starts: start == 0 ? [nil, 2 << 20] : [nil, 2 << 20, nil])
        }
        return [
            Rest(
                testDescription: "no ranges",
                answer: { _ in TestAnswer(200, ["ETag": "\"1\""], body: content) },
                starts: [nil, 2 << 20]),
            Rest(
                testDescription: "changed", answer: { shorter.answer(to: $0) }, last: shorter,
                starts: [nil, 2 << 20]),
            // A server that knows `Range` and not `If-Range`.
            .range("another version", ["ETag": "\"2\""], last: newer),
            // A server must send the tag that it was asked for.
            .range("no tag", [:], last: newer),
            .range(
                "another date", ["Last-Modified": "Mon, 07 Nov 1994 08:49:37 GMT"], of: dated, last: newer),
            .range("a tag that is another one's", ["ETag": "W/\"2\""], of: dated, last: newer),
            Rest(
                testDescription: "not there",
                answer: { _ in TestAnswer(416, ["Content-Range": "bytes */1000"]) }),
        ] + unasked.map { .range("unasked", ["ETag": "\"1\""], $0) } + elsewhere
    }()

    @Test(arguments: rests) func onlyTheRestOfTheSameVersionIsAppended(rest: Rest) async throws {
        let server = try HTTPTestServer(
            inTurn: { rest.first.answer(to: $0).cut(after: 2_200_000) }, rest.answer,
            { rest.last.answer(to: $0) })
        var request = DownloadRequest(server.url())
        // A digest would make up for what was appended wrongly, by a third request.
        if rest.starts.count == 2 {
            request.expectations = [.sha256(SHA256.digest(of: rest.last.content))]
        }
        #expect(await cache.download(request).isStored)
        #expect(try await cache.holds(rest.last.content))
        #expect(server.requests.map(\.rangeStart) == rest.starts)
        #expect(server.requests[1].headers["if-range"] == (rest.first.lastModified ?? "\"1\""))
        #expect(try await cache.cache.metadata(of: "item")?.validator.entityTag == rest.last.entityTag)
        #expect(try await cache.keptBytes() == 0)
    }

    @Test func anotherDestinationStartsAnew() async throws {
        let server = try HTTPTestServer(breakingAt: 2_200_000)
        var request = DownloadRequest(server.url())
        _ = await cache.download(request) { $0.attempts = 1 }
        request.destination = .documents("Other")
        request.priority = 0.5
        #expect(await cache.download(request).isStored)
        #expect(server.requests[1].rangeStart == nil)
        #expect(try await cache.cache.metadata(of: "item")?.destination == .documents("Other"))
    }
}
