import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Readers that are ahead of a download.
@Suite struct ReadingAheadTests {
    private static let resource = TestResource(content)
    /// As much of the content as comes before the gate opens.
    private static let head = 1_200_000
    private static let end = Int64(content.count)

    private let gate = Gate()

    /// Answers the first request in two parts, and then others as `others` says.
    private func server(
        _ others: @escaping @Sendable (TestRequest) -> TestAnswer = { resource.answer(to: $0) }
    ) throws -> HTTPTestServer {
        let gate = gate
        return try HTTPTestServer { request in
            guard request.closedRange == nil else { return others(request) }
            return Self.resource.answer(to: request).after(Self.head) { gate.wait() }
        }
    }

    /// A download of which one chunk has arrived, and a reader of it.
    private func begin(
        _ server: HTTPTestServer
    ) async throws -> (TestCache, PrefetchDownloader, Download, ContentReader) {
        let cache = try await TestCache()
        let downloader = cache.downloader()
        let download = downloader.prefetch(DownloadRequest(server.url(), "item", .sha256(contentDigest)))
        await download.hasReceived(1 << 20)
        return (cache, downloader, download, downloader.reader(for: "item"))
    }

    private func ranges(_ server: HTTPTestServer) -> [ClosedRange<Int>] {
        server.requests.compactMap(\.closedRange)
    }

    @Test func whatIsFarAheadIsRequestedAtOnce() async throws {
        let server = try server()
        let (cache, downloader, download, reader) = try await begin(server)
        #expect(try await reader.read(Self.end - 1000..<Self.end) == content.suffix(1000))
        // Of what was fetched, no more is requested than one read takes, or 1 MiB.
        #expect(try await reader.read(4_000_000..<4_000_010) == content[4_000_000..<4_000_010])
        #expect(try await reader.read(4_000_010..<4_500_000) == content[4_000_010..<4_500_000])
        #expect(ranges(server) == [5_499_000...5_499_999, 4_000_000...5_048_575])
        #expect(server.requests.last?.headers["if-range"] == "\"1\"")
        #expect(server.requests.last?.headers["accept-encoding"] == "identity")
        let fetched = 1000 + Int64(1 << 20)
        #expect(downloader.totals.receivedBytes == fetched && downloader.totals.wastedBytes == fetched)

        gate.open()
        #expect(await download.outcome.isStored)
        #expect(try await reader.read(0..<Self.end) == content)
        #expect(ranges(server).count == 2)
        #expect(downloader.totals.receivedBytes == fetched + Self.end)
        #expect(downloader.totals.wastedBytes == fetched && downloader.totals.repeatedBytes == 0)
        let history = try await cache.cache.history(since: .distantPast)
        #expect(history.rows.reduce(0) { $0 + $1.figures[.fetchedInVainBytes] } == fetched)
        try await cache.cache.close()
    }

    @Test func whatComesSoonIsWaitedFor() async throws {
        let server = try server()
        let (cache, _, download, reader) = try await begin(server)
        let part: Range<Int64> = 3_000_000..<3_000_100
        async let waiting = reader.read(part)
        gate.open()
        #expect(try await waiting == content[3_000_000..<3_000_100])
        #expect(await download.outcome.isStored)
        #expect(ranges(server).isEmpty)
        try await cache.cache.close()
    }

    /// An answer to a request for the end of the content.
    enum Answer: CaseIterable {
        case whole
        case anotherVersion
        case anotherTag
        case noTag
        case anotherRange
        case anotherLength
        case encoded
        case tooShort
        case tooLong
        case unavailable

        func make(_ request: TestRequest) -> TestAnswer {
            var resource = ReadingAheadTests.resource
            // Other bytes, so that it shows if they are taken.
            var answer = TestAnswer(206, resource.answer(to: request).headers, body: Data(count: 1000))
            switch self {
            case .whole: resource.takesRanges = false
            case .anotherVersion:
                resource = TestResource(Data(content.reversed()), entityTag: "\"2\"")
            case .anotherTag: answer.headers["ETag"] = "\"2\""
            case .noTag: answer.headers["ETag"] = nil
            case .anotherRange: answer.headers["Content-Range"] = "bytes 5499000-5499998/5500000"
            case .anotherLength: answer.headers["Content-Range"] = "bytes 5499000-5499999/5500001"
            case .encoded: answer.headers["Content-Encoding"] = "gzip"
            case .tooShort: answer = answer.cut(after: 999)
            case .tooLong: answer = TestAnswer(206, answer.headers, body: Data(count: 1001))
            case .unavailable: answer = TestAnswer(503)
            }
            switch self {
            case .whole, .anotherVersion: return resource.answer(to: request)
            default: return answer
            }
        }
    }

    @Test(arguments: Answer.allCases)
    func aReaderWaitsForWhatTheServerDoesNotGive(answer: Answer) async throws {
        let server = try server { answer.make($0) }
        let (cache, _, download, reader) = try await begin(server)
        async let waiting = reader.read(Self.end - 1000..<Self.end)
        // The second one is that for the range.
        while server.requests.count < 2 { await Task.yield() }
        gate.open()
        #expect(try await waiting == content.suffix(1000))
        #expect(await download.outcome.isStored)
        #expect(ranges(server) == [5_499_000...5_499_999], "once")
        try await cache.cache.close()
    }

    /// Without a timeout: the content has come from the download.
    @Test func aSilentServerDoesNotHoldUpAReader() async throws {
        let server = try server { Self.resource.answer(to: $0).cut(after: 10, .stall) }
        let (cache, _, download, reader) = try await begin(server)
        async let waiting = reader.read(from: Self.end - 1000, upTo: .max)
        while server.requests.count < 2 { await Task.yield() }
        gate.open()
        #expect(try await waiting == content.suffix(1000))
        #expect(await download.outcome.isStored)
        try await cache.cache.close()
    }

    /// The partial is there from an earlier launch, and the download waits for its turn.
    @Test func aHostThatIsNotAllowedIsNotAsked() async throws {
        let cache = try await TestCache()
        let server = try server()
        let first = cache.downloader()
        let download = first.prefetch(DownloadRequest(server.url()))
        await download.hasReceived(1 << 20)
        await first.cancelAll()
        let busy = try HTTPTestServer { _ in TestAnswer(200, body: Data(count: 10)).cut(after: 0, .stall) }
        let requests = server.requests.count
        let downloader = cache.downloader { ($0.transfers, $0.hosts) = (1, ["localhost"]) }
        var other = DownloadRequest(try #require(URL(string: "http://localhost:\(busy.port)/")), "other")
        other.priority = 1
        downloader.prefetch([other, DownloadRequest(server.url())])
        while busy.requests.isEmpty { await Task.yield() }
        let reader = downloader.reader(for: "item", patience: .milliseconds(500))
        await #expect(throws: CacheError.notArriving("item")) {
            try await reader.read(Self.end - 1000..<Self.end)
        }
        #expect(server.requests.count == requests)
        await downloader.cancelAll()
        gate.open()
        try await cache.cache.close()
    }
}
