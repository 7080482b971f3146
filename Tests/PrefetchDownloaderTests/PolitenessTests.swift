import Foundation
import HTTPTestServer
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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

/// Servers that send next to nothing.
@Suite struct StallTests {
    private static let limit = SpeedLimit(.seconds(64))

    /// After how many spans of 4 seconds a body is given up of which so many bytes arrive in each; `nil` if it is not.
    private func spans(_ bytes: [Int], isAwaited: Bool = false) async throws -> Int? {
        let exchange = Exchange(nil)
        exchange.receive(ResponseHead(status: 200, fields: []))
        _ = try await exchange.head()
        defer { exchange.cancel() }
        for (index, count) in bytes.enumerated() {
            let reader = Task { try await exchange.next()?.count }
            while !exchange.isAwaited { await Task.yield() }
            exchange.endSpan(Self.limit) { isAwaited }
            if exchange.isOver {
                let reason = DownloadError.Reason.stalled(isAwaited ? .seconds(32) : .seconds(64))
                await #expect(throws: reason) { try await reader.value }
                return index
            }
            _ = exchange.receive(Data(count: count))
            #expect(try await reader.value == count)
        }
        return nil
    }

    @Test func aServerThatTricklesIsGivenUp() async throws {
        // The first span is not a whole one.
        #expect(try await spans(Array(repeating: 4094, count: 40)) == 16)
        #expect(try await spans(Array(repeating: 4096, count: 40)) == nil)
        #expect(try await spans(Array(repeating: 1, count: 40), isAwaited: true) == 8)
        #expect(try await spans([1, 1, 1, 1, 1, 70_000] + Array(repeating: 1, count: 40)) == 22)
    }

    @Test func anAnswerMayTakeLongToMake() {
        #expect(Self.limit.stall(after: 15, 0) { false } == nil)
        #expect(Self.limit.stall(after: 16, 0) { false } == .seconds(64))
        #expect(Self.limit.stall(after: 8, 0) { true } == .seconds(32))
    }

    @Test func aSlotIsAwaitedByThoseWhoCouldHaveIt() {
        func entry(_ number: Int, _ host: String) -> SlotQueue.Entry {
            SlotQueue.Entry(number: number, host: host, isRequested: false, priority: 0)
        }
        var queue = SlotQueue(limit: 3, limitPerHost: 1)
        for (number, host) in ["a", "a", "b"].enumerated() { queue.add(entry(number, host)) }
        #expect(queue.start().count == 2)
        #expect(queue.isAwaited("a") && !queue.isAwaited("b"))
        queue.add(entry(3, "c"))
        #expect(queue.start().count == 1)
        #expect(queue.isAwaited("b"))
    }
}

/// A server that is faster than the disk.
@Suite struct BackPressureTests {
    /// 64 MiB, which is more than sockets and the reader of the network hold.
    private static let length = 64 << 20
    private static let inFlight: Int64 = 16 << 20

    private func start() throws -> (HTTPTestServer, Exchange) {
        let server = try HTTPTestServer { _ in TestAnswer(200, body: Data(count: Self.length)) }
        return (server, DownloaderEnvironment().transport.start(URLRequest(url: server.url())))
    }

    @Test func littleIsReadBeforeSomebodyAsks() async throws {
        let (server, exchange) = try start()
        #expect(try await exchange.head().contentLength == Int64(Self.length))
        await server.heldUp()
        #expect(server.bodyBytesSent < Self.inFlight)
        exchange.cancel()
    }

    @Test func aServerIsHeldUpWhileNobodyAsks() async throws {
        let (server, exchange) = try start()
        _ = try await exchange.head()
        var received = try #require(try await exchange.next()).count
        await server.heldUp()
        #expect(server.bodyBytesSent - Int64(received) < Self.inFlight)
        while let piece = try await exchange.next() {
            received += piece.count
            // One reading of the network may come on top of what waits.
            #expect(piece.count <= Exchange.capacity + (1 << 20))
        }
        #expect(received == Self.length)
        #expect(server.bodyBytesSent == Int64(Self.length))
    }

    @Test func whoIsHeldUpCanBeCancelled() async throws {
        let (server, exchange) = try start()
        _ = try await exchange.head()
        await server.heldUp()
        exchange.cancel()
        await #expect(throws: DownloadError.Reason.connection(.cancelled)) { _ = try await exchange.next() }
    }
}

/// When a failed download is tried again.
@Suite struct PolicyTests {
    /// Waits from 1 to 60 seconds.
    private let configuration = DownloaderConfiguration(hosts: .any)

    private func delay(
        _ failures: Int = 1, _ retryAfter: Duration? = nil, random: Double = 1
    ) -> Duration? {
        let reason = DownloadError.Reason.status(503, retryAfter: retryAfter)
        return configuration.delay(after: reason, failures: failures) { random }
    }

    @Test func theLongestWaitDoublesUpToItsBoundAndTheWaitIsAnyPartOfIt() {
        #expect((1...8).map { delay($0) } == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
        #expect(delay(.max) == .seconds(60))
        #expect(delay(0) == .seconds(1))
        #expect(delay(3, random: 0) == .zero)
        #expect(delay(3, random: 0.25) == .seconds(1))
    }

    @Test func whatTheServerWantsIsTheLeast() {
        #expect(delay(1, .zero) == .seconds(1))
        #expect(delay(1, .seconds(120)) == .seconds(120))
        #expect(delay(1, .seconds(121)) == nil)
    }

    @Test func whatWillNotChangeIsNotTriedAgain() {
        let lasting: [DownloadError.Reason] = [
            .unsupportedURL, .hostNotAllowed, .insecure, .tooManyRedirects(limit: 5), .redirect(to: "x"),
            .status(404, retryAfter: nil), .connection(.notTrusted), .tooLong(received: 2, announced: 1),
            .wrongLength(expected: 1, actual: 2), .wrongDigest(expected: [], actual: [1]),
            .undelimitedBody, .encoded("gzip"), .cache(.closed),
        ]
        for reason in lasting { #expect(!reason.isTransient, "\(reason)") }
        let passing: [DownloadError.Reason] = [
            .status(429, retryAfter: nil), .connection(.connectionLost), .connection(.cannotFindHost),
            .stalled(.seconds(60)), .truncated(received: 1, announced: 2), .partialLost, .wrongRange("x"),
        ]
        for reason in passing { #expect(reason.isTransient, "\(reason)") }
    }

    @Test func whatADateIsGoodFor() {
        let date = Validator(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        let both = Validator(entityTag: "W/\"1\"", lastModified: date.lastModified)
        let tag = Validator(entityTag: "\"1\"")
        #expect(date.rangeCondition == date.lastModified)
        #expect(both.rangeCondition == date.lastModified)
        #expect(tag.rangeCondition == "\"1\"")
        #expect(Validator().rangeCondition == nil)
        #expect(Validator(lastModified: "a\r\nb").rangeCondition == nil)

        let undated = ResponseHead(status: 200, fields: [])
        let late = ResponseHead(status: 200, fields: [("Date", "Sun, 06 Nov 1994 08:50:37 GMT")])
        let early = ResponseHead(status: 200, fields: [("Date", "Sun, 06 Nov 1994 08:50:36 GMT")])
        for validator in [date, both] {
            #expect(validator.isStrong(in: late))
            #expect(!validator.isStrong(in: early))
            #expect(!validator.isStrong(in: undated))
        }
        #expect(tag.isStrong(in: undated))
        #expect(!Validator(entityTag: "W/\"1\"").isStrong(in: late))
    }

    @Test func digestsInHexadecimal() {
        let text = String(repeating: "0aF9", count: 16)
        #expect(
            ContentExpectation.sha256(hexadecimal: text)
                == .sha256(Array(repeatElement([0x0A, 0xF9], count: 16).joined())))
        for text in [
            "", "00", String(repeating: "g", count: 64), text + "0", String(repeating: "+1", count: 32),
        ] {
            #expect(ContentExpectation.sha256(hexadecimal: text) == nil)
        }
    }
}
