import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Files that another session has downloaded.
@Suite struct FinishTests {
    private static let url = URL(string: "https://127.0.0.1/episodes/1") ?? URL(filePath: "/")

    private let cache: TestCache
    private let file: URL

    init() async throws {
        cache = try await TestCache()
        file = cache.container.appending(path: "download.tmp")
        try content.write(to: file)
    }

    private func response(
        _ status: Int = 200, _ fields: [String: String?] = [:], from url: URL = url
    ) throws -> HTTPURLResponse {
        let whole: [String: String?] = [
            "Content-Length": "\(content.count)", "ETag": "\"1\"",
            "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        let all = whole.merging(fields) { $1 }.compactMapValues(\.self)
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: all))
    }

    private func finish(
        _ request: DownloadRequest = DownloadRequest(url), _ response: HTTPURLResponse,
        _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) async -> DownloadOutcome {
        await cache.downloader(change).finish(request, fileAt: file, response: response)
    }

    private func finish(response: HTTPURLResponse) async -> DownloadOutcome {
        await finish(DownloadRequest(Self.url), response)
    }

    @Test func oneFileIsNoBundle() async throws {
        let request = DownloadRequest(
            bundle: [BundleFile("a", at: Self.url)], key: "item", destination: .documents("Model"))
        let outcome = await finish(request, try response())
        #expect(outcome.error?.reason == .bundleRequest)
        #expect(isThere)
    }

    private var isThere: Bool { FileManager.default.fileExists(atPath: file.path) }

    private func expectRefused(
        _ outcome: DownloadOutcome, _ reason: DownloadError.Reason,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(outcome.error?.reason == reason, sourceLocation: sourceLocation)
        #expect(isThere, sourceLocation: sourceLocation)
        #expect(try isContent(file), sourceLocation: sourceLocation)
        #expect(try await cache.cache.read("item") == nil, sourceLocation: sourceLocation)
        #expect(try await cache.keptBytes() == 0, sourceLocation: sourceLocation)
    }

    @Test func aFileIsStoredAndTakenOver() async throws {
        var request = DownloadRequest(Self.url, "item", .sha256(contentDigest), .length(Int64(content.count)))
        request.expirationDate = Date(timeIntervalSince1970: 4_000_000_000)
        request.attributes = [1, 2, 3]
        #expect(await finish(request, try response()).isStored)
        #expect(!isThere)
        #expect(try await cache.holds(content))
        let metadata = try #require(try await cache.cache.metadata(of: "item"))
        #expect(metadata.source == "127.0.0.1" && metadata.attributes == [1, 2, 3])
        #expect(
            metadata.validator
                == Validator(entityTag: "\"1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"))
        #expect(metadata.expirationDate == request.expirationDate)
        #expect(try await cache.cache.history().total[.fetchedBytes] == Int64(content.count))
    }

    @Test func aUserRequestedFileIsDelivered() async throws {
        let request = DownloadRequest(Self.url).userRequested
        #expect(await finish(request, try response()).delivered != nil)
        #expect(try isContent(cache.documents.appending(path: "File")))
        #expect(!isThere)
    }

    /// A session that was interrupted asks for the rest, and joins it to what it has.
    @Test func theWholeFileOfAResumedTransferIsStored() async throws {
        let total = content.count
        let rest = [
            "Content-Range": "bytes 1000000-\(total - 1)/\(total)", "Content-Length": "\(total - 1_000_000)",
        ]
        #expect(await finish(response: try response(206, rest)).isStored)
        #expect(try await cache.holds(content))
    }

    @Test(arguments: [Intent.opportunistic, .userRequested])
    func thePartialOfAnEarlierDownloadIsDropped(intent: Intent) async throws {
        let server = try HTTPTestServer(inTurn: { resource.answer(to: $0).cut(after: 3_400_000, .stall) })
        let download = cache.downloader().prefetch(DownloadRequest(server.url()))
        await download.hasReceived(3_400_000)
        download.cancel()
        _ = await download.outcome
        #expect(try await cache.keptBytes() == 3 << 20)
        var request = DownloadRequest(Self.url)
        request.intent = intent
        #expect(await finish(request, try response()).error == nil)
        #expect(!isThere)
        // With the row of the item.
        try await cache.cache.flush()
        #expect(try await cache.keptBytes() == 0)
    }

    @Test func aNewerVersionReplacesTheItem() async throws {
        _ = try await cache.cache.store(
            noise(1000), as: ItemMetadata(key: "item", validator: Validator(entityTag: "\"0\"")))
        #expect(await finish(response: try response()).isStored)
        #expect(try await cache.holds(content))
    }

    @Test func whatTheUserHasIsLeftAlone() async throws {
        #expect(await finish(response: try response()).isStored)
        let opened = try #require(try await cache.cache.open("item"))
        try content.write(to: file)
        let file = try #require(await finish(response: try response()).alreadyPromoted)
        #expect(file.path == opened.path)
        #expect(isThere)
        var again = DownloadRequest(Self.url)
        again.whenPromoted = .storeAgain
        #expect(await finish(again, try response()).isStored)
    }

    private static let length = Int64(content.count)

    /// What differs from the answer with the content, what is expected, and why nothing is stored.
    private static let refusals: [(Int, [String: String?], [ContentExpectation], DownloadError.Reason)] =
        [404, 500, 204, 301, 304].map { ($0, [:], [], .status($0, retryAfter: nil)) } + [
            (206, ["Content-Range": "bytes 0-99/\(length)"], [], .wrongRange("bytes 0-99/\(length)")),
            (206, [:], [], .wrongRange("none")),
            (
                206, ["Content-Range": "bytes 1-\(length - 1)/\(length)"], [.length(5)],
                .wrongLength(expected: 5, actual: length)
            ),
            (
                200, ["Content-Length": "\(length + 1)"], [],
                .truncated(received: length, announced: length + 1)
            ),
            (
                200, ["Content-Length": "\(length - 1)"], [],
                .tooLong(received: length, announced: length - 1)
            ),
            (200, ["Content-Length": "5, 6"], [], .connection(.malformed)),
            (200, [:], [.length(length + 1)], .wrongLength(expected: length + 1, actual: length)),
            (200, unknown, [], .undelimitedBody),
            (
                200, unknown, [.length(length + 1)],
                .truncated(received: length, announced: length + 1)
            ),
            (200, ["Content-Encoding": "gzip"], [], .encoded("gzip")),
        ]
    private static let unknown = ["Content-Length": nil, "Connection": "close"]

    @Test(arguments: refusals.indices) func whatMayNotBeTheContentIsNotStored(index: Int) async throws {
        let (status, fields, expectations, reason) = Self.refusals[index]
        var request = DownloadRequest(Self.url)
        request.expectations = expectations
        try await expectRefused(await finish(request, try response(status, fields)), reason)
    }

    @Test func anExpectedLengthMarksTheEnd() async throws {
        let request = DownloadRequest(Self.url, "item", .length(Self.length))
        #expect(await finish(request, try response(200, Self.unknown)).isStored)
    }

    @Test(arguments: [true, false]) func theDigestMustBeRight(isCompressible: Bool) async throws {
        var body = content
        if isCompressible {
            body = Data(repeating: 7, count: content.count)
            try body.write(to: file)
        }
        let wrong = [UInt8](repeating: 0, count: 32)
        let outcome = await finish(DownloadRequest(Self.url, "item", .sha256(wrong)), try response())
        #expect(
            outcome.error?.reason == .wrongDigest(expected: wrong, actual: SHA256.digest(of: body)))
        #expect(try Data(contentsOf: file) == body)
        #expect(try await cache.cache.read("item") == nil)
        #expect(try await cache.cache.statistics().chargedBytes == 0)
    }

    @Test func bothURLsMustBeAllowed() async throws {
        let elsewhere = try #require(URL(string: "https://elsewhere.example/1"))
        try await expectRefused(
            await finish(DownloadRequest(elsewhere), try response()), .hostNotAllowed)
        try await expectRefused(
            await finish(response: try response(from: elsewhere)), .redirect(to: "https://elsewhere.example"))
        let insecure = try #require(URL(string: "http://127.0.0.1/1"))
        try await expectRefused(
            await finish(response: try response(from: insecure)), .redirect(to: "http://127.0.0.1"))
    }

    @Test func anAnswerOfAnotherProtocolFails() async throws {
        let other = URLResponse(url: Self.url, mimeType: nil, expectedContentLength: 5, textEncodingName: nil)
        let outcome = await cache.downloader().finish(
            DownloadRequest(Self.url), fileAt: file, response: other)
        try await expectRefused(outcome, .connection(.malformed))
    }

    @Test func aMissingFileFails() async throws {
        try FileManager.default.removeItem(at: file)
        guard case .cache(.fileSystem)? = await finish(response: try response()).error?.reason else {
            Issue.record("not the file system")
            return
        }
    }

    @Test func withoutRoomItStays() async throws {
        try await cache.cache.configure(CacheConfiguration(budget: .fixed(.mebibytes(2))))
        guard case .refused(.largerThanLargestItem, keptBytes: 0) = await finish(response: try response())
        else { Issue.record("stored"); return }
        #expect(try isContent(file))
    }

    @Test func whatDisplacesNothingStays() async throws {
        var configuration = CacheConfiguration(budget: .fixed(.mebibytes(24)))
        configuration.largestItem = .mebibytes(24)
        try await cache.cache.configure(configuration)
        _ = try await cache.cache.store(noise(20 << 20), as: ItemMetadata(key: "other"))
        var request = DownloadRequest(Self.url)
        request.admission = .onlyIntoFreeSpace
        #expect(await finish(request, try response()).refusal != nil)
        #expect(try isContent(file))
        #expect(try await cache.cache.read("other") != nil)
        #expect(await finish(response: try response()).isStored)
    }

    @Test func theRequestOfAnotherSessionAsksForWholeContent() async throws {
        var download = DownloadRequest(Self.url).with(["Authorization": "secret", "Range": "bytes=5-"])
        download.urlRequest.httpMethod = "POST"
        let request = cache.downloader().urlRequest(for: download)
        #expect(request.httpMethod == "GET")
        #expect(
            request.allHTTPHeaderFields == [
                "Accept-Encoding": "identity", "Authorization": "secret",
                "User-Agent": "PrefetchCache/\(PrefetchCache.version)",
            ])
    }
}
