import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Keys that are in the cache, or were opened.
@Suite struct RevalidationTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private let small = TestResource(Data("one".utf8), entityTag: "\"1\"")
    private let newer = TestResource(Data("two".utf8), entityTag: "\"2\"")

    private func twoVersions() throws -> HTTPTestServer {
        try HTTPTestServer(inTurn: { [small] in small.answer(to: $0) }, { [newer] in newer.answer(to: $0) })
    }

    @Test func anItemThatIsCurrentCostsNothing() async throws {
        let server = try HTTPTestServer { [small] in small.answer(to: $0) }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        let sent = server.bodyBytesSent
        #expect(await cache.download(DownloadRequest(server.url())) == .notModified)
        #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\""])
        #expect(server.bodyBytesSent == sent)
    }

    @Test func aDigestDecidesWithoutTheServer() async throws {
        let server = try twoVersions()
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        func request(_ content: Data) -> DownloadRequest {
            DownloadRequest(server.url(), "item", .sha256(SHA256.digest(of: content)))
        }
        #expect(await cache.download(request(small.content)) == .alreadyCached)
        #expect(server.requests.count == 1)
        // Nobody has read it.
        #expect(try await cache.cache.statistics().hits == 0)
        #expect(await cache.download(request(newer.content)).isStored)
        #expect(try await cache.holds(newer.content))
    }

    /// The caller knows better than the server what it should be.
    @Test func whatHasAnotherLengthThanIsExpectedIsDownloaded() async throws {
        let longer = TestResource(Data("three".utf8), entityTag: "\"1\"")
        let server = try HTTPTestServer(
            inTurn: { [small] in small.answer(to: $0) }, { longer.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        var request = DownloadRequest(server.url(), "item", .length(3))
        request.whenCached = .keep
        #expect(await cache.download(request) == .alreadyCached)
        request.expectations = [.length(5)]
        #expect(await cache.download(request).isStored)
        #expect(try await cache.holds(longer.content))
    }

    @Test func aDateIsAskedForWhereThereIsNoTag() async throws {
        let dated = TestResource(
            Data("one".utf8), entityTag: nil, lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        let server = try HTTPTestServer { dated.answer(to: $0) }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(await cache.download(DownloadRequest(server.url())) == .notModified)
        #expect(server.requests[1].headers["if-modified-since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test func aNewVersionThatBreaksOffLeavesTheOldOne() async throws {
        let large = TestResource(content, entityTag: "\"2\"")
        let server = try HTTPTestServer(
            inTurn: { [small] in small.answer(to: $0) }, { large.answer(to: $0).cut(after: 2_200_000) },
            { large.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        let outcome = await cache.download(DownloadRequest(server.url())) { $0.attempts = 1 }
        #expect(outcome.error?.keptBytes == 2 << 20)
        #expect(try await cache.holds(small.content))
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(server.requests[2].rangeStart == 2 << 20)
        #expect(try await cache.holds(content))
        #expect(try await cache.cache.items().count == 1)
    }

    @Test func theCallerMayAskNobodyOrInAnyCase() async throws {
        let server = try HTTPTestServer { [small] in small.answer(to: $0) }
        var request = DownloadRequest(server.url())
        #expect(await cache.download(request).isStored)
        request.whenCached = .keep
        #expect(await cache.download(request) == .alreadyCached)
        #expect(server.requests.count == 1)
        request.whenCached = .replace
        #expect(await cache.download(request).isStored)
        #expect(server.requests[1].headers["if-none-match"] == nil)
    }

    /// What a server calls a tag or a date tells it what is here, but not two versions apart.
    @Test(arguments: [
        ("ETag", "abc"), ("ETag", "'abc'"), ("ETag", "W/abc"), ("ETag", "\"a b\""),
        ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 UTC"),
        ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 +0000"), ("Last-Modified", "1994-11-06T08:49:37Z"),
    ])
    func whatIsOddIsSentBackAsItCame(name: String, value: String) async throws {
        let condition = name == "ETag" ? "if-none-match" : "if-modified-since"
        let server = try HTTPTestServer(
            inTurn: { _ in TestAnswer(200, [name: value], body: content).cut(after: 2_200_000) },
            { _ in TestAnswer(200, [name: value], body: content) },
            { TestAnswer($0.headers[condition] == value ? 304 : 500) },
            { [newer] in newer.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(server.requests[1].headers["range"] == nil && server.requests[1].headers["if-range"] == nil)
        #expect(await cache.download(DownloadRequest(server.url())) == .notModified)
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(try await cache.holds(newer.content))
    }

    @Test(arguments: ["*", "", "a\u{1}b", "ü", String(repeating: "a", count: 5000)])
    func whatCannotBeSentBackIsNoValidator(value: String) {
        #expect(Validator(ResponseHead(status: 200, fields: [("ETag", value)])).isEmpty)
    }

    /// Nothing tells whether it is still the same.
    @Test func anItemWithoutAValidatorIsFetchedAnew() async throws {
        let (old, new) = (noise(3), noise(3, seed: 2))
        let server = try HTTPTestServer(
            inTurn: { _ in TestAnswer(body: old) }, { _ in TestAnswer(body: new) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(try await cache.holds(new))
        #expect(server.requests.count == 2)
    }

    @Test func whatWasOpenedIsLeftAlone() async throws {
        let server = try twoVersions()
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        let file = try #require(try await cache.cache.open("item"))
        let same = try #require(await cache.download(DownloadRequest(server.url())).alreadyPromoted)
        #expect(same.path == file.path)
        #expect(server.requests.count == 1)
        #expect(try Data(contentsOf: file.url) == small.content)
    }

    @Test func whatWasOpenedStaysBesideTheNewVersionThatTheCallerWants() async throws {
        let server = try twoVersions()
        var request = DownloadRequest(server.url())
        #expect(await cache.download(request).isStored)
        let file = try #require(try await cache.cache.open("item"))
        request.whenPromoted = .storeAgain
        #expect(await cache.download(request).isStored)
        #expect(try Data(contentsOf: file.url) == small.content)
        let second = try #require(try await cache.cache.open("item"))
        #expect(second.path != file.path)
        #expect(try Data(contentsOf: second.url) == newer.content)
    }

    /// A part of the new version is there already.
    @Test func aNewVersionOfWhatWasOpenedGoesOn() async throws {
        let large = TestResource(content, entityTag: "\"2\"")
        let server = try HTTPTestServer(
            inTurn: { [small] in small.answer(to: $0) }, { large.answer(to: $0).cut(after: 2_200_000) },
            { large.answer(to: $0) })
        var request = DownloadRequest(server.url())
        #expect(await cache.download(request).isStored)
        let file = try #require(try await cache.cache.open("item"))
        request.whenPromoted = .storeAgain
        #expect(await cache.download(request) { $0.attempts = 1 }.error?.keptBytes == 2 << 20)
        // It is the user's file until the new version is whole.
        #expect(try await cache.cache.open("item")?.path == file.path)
        #expect(await cache.download(request).isStored)
        #expect(server.requests.last?.rangeStart == 2 << 20)
        let second = try #require(try await cache.cache.open("item"))
        #expect(second.path != file.path)
        #expect(try isContent(second.url))
    }

    @Test func whatTheUserWantsAnewGoesBesideTheFirst() async throws {
        let server = try twoVersions()
        var request = DownloadRequest(server.url()).userRequested
        let file = try #require(await cache.download(request).delivered)
        request.whenPromoted = .storeAgain
        let second = try #require(await cache.download(request).delivered)
        #expect(second.path != file.path)
        #expect(try Data(contentsOf: file.url) == small.content)
        #expect(try Data(contentsOf: second.url) == newer.content)
        #expect(try await cache.cache.open("item")?.path == second.path)
    }

    /// The record goes only when there is something to take its place.
    @Test(arguments: [true, false])
    func whatWasOpenedIsNotForgottenInVain(isRefused: Bool) async throws {
        let server = try HTTPTestServer(inTurn: { [small] in small.answer(to: $0) }, { _ in TestAnswer(404) })
        var request = DownloadRequest(server.url())
        #expect(await cache.download(request).isStored)
        let file = try #require(try await cache.cache.open("item"))
        if isRefused { try await cache.cache.configure { $0.isStoringEnabled = false } }
        request.whenPromoted = .storeAgain
        let outcome = await cache.download(request)
        #expect(outcome.refusal == (isRefused ? .disabled : nil))
        #expect(outcome.error?.reason == (isRefused ? nil : .status(404, retryAfter: nil)))
        #expect(try await cache.cache.open("item")?.path == file.path)
    }

    @Test func anItemThatIsGoneWhenTheServerConfirmsItIsDownloaded() async throws {
        let server = try HTTPTestServer { request in
            guard request.headers["if-none-match"] != nil else { return resource.answer(to: request) }
            let isGone = Gate()
            Task {
                do { #expect(try await cache.cache.remove("item")) } catch { Issue.record(error) }
                isGone.open()
            }
            isGone.wait()
            return TestAnswer(304)
        }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(server.requests.count == 3)
        #expect(try await cache.holds(content))
    }
}
