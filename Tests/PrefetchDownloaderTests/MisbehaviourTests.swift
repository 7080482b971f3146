import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Servers that do what they should not. Nothing of it is ever committed.
@Suite struct MisbehaviourTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    /// Downloads one item in one try; it must fail and not be there.
    private func failure(
        _ cache: TestCache, _ server: HTTPTestServer, _ expectations: ContentExpectation...,
        configured change: (inout DownloaderConfiguration) -> Void = { $0.attempts = 1 }
    ) async throws -> DownloadError {
        var request = DownloadRequest(server.url())
        request.expectations = expectations
        let outcome = await cache.download(request, change)
        #expect(try await !cache.cache.contains("item"))
        return try #require(outcome.error, "\(outcome)")
    }

    @Test func aLengthOtherThanExpectedIsNotDownloaded() async throws {
        let (server, gate) = try heldServer(after: 65_536)
        let error = try await failure(cache, server, .length(5_000_000))
        #expect(error.reason == .wrongLength(expected: 5_000_000, actual: 5_500_000))
        #expect(server.bodyBytesSent <= 65_536)
        gate.open()
    }

    /// Without a length in the head, it is found out on the way.
    @Test(arguments: [5_000_000, 6_000_000])
    func aLengthOtherThanExpectedIsNotCommitted(expected: Int64) async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).endingWithItsConnection }
        let error = try await failure(cache, server, .length(expected))
        if expected < 5_500_000 {
            guard case .tooLong(_, 5_000_000) = error.reason else { Issue.record("\(error)"); return }
            #expect(try await cache.keptBytes() == 0)
        } else {
            #expect(error.reason == .truncated(received: 5_500_000, announced: 6_000_000))
            #expect(error.keptBytes == 5 << 20)
        }
    }

    /// Half of it, or all of it: nobody can tell.
    @Test(arguments: [2_200_000, 5_500_000])
    func aContentThatMayBeCutShortIsNotStored(length: Int) async throws {
        let server = try HTTPTestServer { request in
            resource.answer(to: request).cut(after: length).endingWithItsConnection
        }
        let error = try await failure(cache, server) { $0.attempts = 5 }
        #expect(error.reason == .undelimitedBody)
        #expect(error.keptBytes == 0)
        #expect(try await cache.cache.read("item") == nil)
        #expect(try await cache.keptBytes() == 0)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        ([:], false, false), ([:], true, true), (["Connection": "close"], true, false),
        (["Content-Length": "5"], false, true), (["Transfer-Encoding": "chunked"], false, true),
        (["Transfer-Encoding": "gzip, Chunked"], false, true), (["Transfer-Encoding": "gzip"], true, false),
    ])
    func whatMarksTheEndOfAContent(headers: [String: String], isSecure: Bool, isMarked: Bool) {
        let fields = headers.map { (name: $0, value: $1) }
        #expect(ResponseHead(status: 200, fields: fields).marksEnd(isSecure: isSecure) == isMarked)
        // Where the version is known, it decides.
        let isFramed = ResponseHead(status: 200, isFramed: true, fields: fields)
        #expect(isFramed.marksEnd(isSecure: isSecure) == (isMarked || headers["Transfer-Encoding"] == nil))
        let isNot = ResponseHead(status: 200, isFramed: false, fields: fields)
        #expect(isNot.marksEnd(isSecure: isSecure) == (isMarked && !headers.isEmpty))
    }

    @Test func aWrongDigestDropsEverything() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let wrong = [UInt8](repeating: 7, count: 32)
        let error = try await failure(cache, server, .sha256(wrong)) { _ in }
        #expect(error.reason == .wrongDigest(expected: wrong, actual: contentDigest))
        #expect(error.keptBytes == 0)
        #expect(try await cache.keptBytes() == 0)
        #expect(server.requests.count == 1)
    }

    /// Two halves of two versions under one tag: only the digest tells, and the second try is whole.
    @Test func aWrongDigestOfTwoHalvesIsTriedOnceMoreFromTheStart() async throws {
        let other = TestResource(noise(5_500_000, seed: 2))
        let server = try HTTPTestServer(
            inTurn: { other.answer(to: $0).cut(after: 2_200_000) }, { resource.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url(), "item", .sha256(contentDigest))).isStored)
        #expect(server.requests.map(\.rangeStart) == [nil, 2 << 20, nil])
        #expect(try await cache.holds(content))
    }

    /// A range, or its condition, may be what the server does not take. What is kept stays until there is more.
    @Test(arguments: [304, 400, 403, 405, 412, 501])
    func whereTheRestIsNotToBeHadItStartsOver(status: Int) async throws {
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).cut(after: 2_200_000) }, { _ in TestAnswer(status) },
            { _ in TestAnswer(403) }, { _ in TestAnswer(status) }, { resource.answer(to: $0) })
        let request = DownloadRequest(server.url())
        #expect(await cache.download(request) { $0.attempts = 2 }.error?.keptBytes == 2 << 20)
        #expect(await cache.download(request).isStored)
        #expect(try await cache.holds(content))
        #expect(server.requests.map(\.rangeStart) == [nil, 2 << 20, nil, 2 << 20, nil])
    }

    /// The tries are the bound of that, too.
    @Test func aRestThatNeverComesEndsTheDownload() async throws {
        let server = try HTTPTestServer { request in
            guard request.rangeStart != nil else { return resource.answer(to: request).cut(after: 2_200_000) }
            return TestAnswer(206, ["ETag": "\"1\""], body: content.dropFirst(2 << 20))
        }
        let error = try await failure(cache, server) { $0.attempts = 3 }
        #expect(error.reason == .truncated(received: 2_200_000, announced: 5_500_000))
        #expect(server.requests.count <= 6)
    }

    @Test(arguments: [5_500_000, 1000]) func aPartIsStoredIfItIsAllOfIt(length: Int) async throws {
        let range = "bytes 0-\(length - 1)/5500000"
        let server = try HTTPTestServer { _ in
            TestAnswer(206, ["Content-Range": range], body: content.prefix(length))
        }
        if length == content.count {
            #expect(await cache.download(DownloadRequest(server.url())).isStored)
            #expect(try await cache.holds(content))
        } else {
            #expect(try await failure(cache, server).reason == .wrongRange(range))
        }
    }

    /// It is no gzip, and then comes in the same way though it is requested plain.
    @Test func anEncodingThatIsNoneIsNotStored() async throws {
        let server = try HTTPTestServer { _ in TestAnswer(200, ["Content-Encoding": "gzip"], body: content) }
        let outcome = await cache.download(DownloadRequest(server.url())) { $0.attempts = 2 }
        #expect(outcome.error?.reason == .encoded("gzip"))
        #expect(server.requests.map { $0.headers["accept-encoding"] } == ["gzip", "identity"])
        #expect(try await cache.keptBytes() == 0)
    }

    @Test func aServerThatSaysNothingIsGivenUp() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: 2_200_000, .stall) }
        let download = cache.downloader { $0.attempts = 1 }.prefetch(DownloadRequest(server.url()))
        let event = await download.event { event in
            if case .progress(let progress) = event { progress.completedBytes == 2_200_000 } else { false }
        }
        #expect(event != nil)
        cache.clock.letTimeoutsPass()
        let error = try #require(await download.outcome.error)
        #expect(error.reason == .stalled(.seconds(60)))
        #expect(error.keptBytes == 2 << 20)
    }

    @Test func aServerThatDoesNotAnswerIsGivenUp() async throws {
        let server = try HTTPTestServer { _ in
            var answer = TestAnswer(200).cut(after: 0, .stall)
            answer.isSilent = true
            return answer
        }
        let download = cache.downloader { $0.attempts = 1 }.prefetch(DownloadRequest(server.url()))
        cache.clock.letTimeoutsPass()
        #expect(await download.outcome.error?.reason == .stalled(.seconds(60)))
    }

    @Test func aServerThatIsNotThereIsTriedAsOftenAsConfigured() async throws {
        let server = try HTTPTestServer { _ in TestAnswer(200) }
        server.close()
        let error = try await failure(cache, server) { $0.attempts = 4 }
        #expect(error.reason == .connection(.cannotConnect))
        #expect(cache.clock.slept == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test(arguments: [400, 401, 403, 404, 410, 501])
    func anAnswerThatWillNotChangeIsNotAskedForAgain(status: Int) async throws {
        let server = try HTTPTestServer { _ in
            TestAnswer(status, ["WWW-Authenticate": "Basic"], body: Data("no".utf8))
        }
        let error = try await failure(cache, server) { _ in }
        #expect(error.reason == .status(status, retryAfter: nil))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func aServerInTroubleIsAskedAgain(status: Int) async throws {
        let server = try HTTPTestServer(inTurn: { _ in TestAnswer(status) }, { resource.answer(to: $0) })
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(cache.clock.slept == [.seconds(1)])
    }
}
