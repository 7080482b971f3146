import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

/// Headers as servers send them, and as those do who mean harm.
@Suite struct HeaderTests {
    @Test func contentRanges() {
        #expect(ContentRange("Bytes 0-0/1")?.bytes == 0..<1)
        let range = ContentRange("bytes 1048576-2097151/4194304")
        #expect(range?.bytes == 1_048_576..<2_097_152)
        #expect(range?.total == 4_194_304)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 0-0", "bytes 0-0/", "bytes /1", "bytes */*", "bytes 1-0/2",
        "bytes 0-2/2",
        "bytes -1-2/3", "bytes +1-2/3", "bytes 0x1-2/3", "bytes 1 -2/3", "bytes  1-2/3", "bytes 1-2/3/4",
        "items 0-1/2",
        "bytes 0-9223372036854775807/9223372036854775808", "bytes 0-1/18446744073709551616",
        "bytes 0-1/2,bytes 2-3/4",
        "bytes ٠-١/٢", "bytes 0-1-2/3", "bytes\t0-1/2", "bytes 0-1/2 ",
        // Of a length that is not known, and of nothing: nothing can be appended after these.
        "bytes 5-9/*", "bytes */4194304",
    ])
    func whatIsNoContentRange(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func contentLengths() {
        #expect(ByteNumber.contentLength("0") == 0)
        #expect(ByteNumber.contentLength(" 42 ") == 42)
        #expect(ByteNumber.contentLength("42, 42") == 42)
        #expect(ByteNumber.contentLength("9223372036854775807") == .max)
        for text in ["", "42, 43", "-1", "+1", "1e3", "0x10", "9223372036854775808", "4 2", "42,"] {
            #expect(ByteNumber.contentLength(text) == nil, "\(text)")
        }
    }

    @Test func entityTags() {
        #expect(EntityTag("\"abc\"")?.isStrong == true)
        #expect(EntityTag(" W/\"abc\" ")?.isStrong == false)
        #expect(EntityTag("\"\"")?.text == "\"\"")
        for text in [
            "", "abc", "\"", "w/\"abc\"", "\"a\"b\"", "\"a\r\nX: y\"", "\"a b\"", "\"\u{7F}\"", "\"a",
        ] {
            #expect(EntityTag(text) == nil, "\(text)")
        }
    }

    @Test func datesAtTheEdges() {
        #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
        #expect(HTTPDate.parse("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        #expect(HTTPDate.parse("Thu, 29 Feb 2024 23:59:60 GMT") == 1_709_251_200)
        #expect(HTTPDate.parse("Fri, 31 Dec 9999 23:59:59 GMT") == 253_402_300_799)
    }

    @Test(arguments: [
        "", "GMT", "Sun, GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 0000 08:49:37 GMT", "2024-02-29T00:00:00Z",
    ])
    func whatIsNoDate(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test func retryAfter() {
        let now: Int64 = 784_111_777
        #expect(RetryAfter.parse("0", now: now) == .zero)
        #expect(RetryAfter.parse(" 120 ", now: now) == .seconds(120))
        #expect(RetryAfter.parse("99999999999999999999999", now: now) == .seconds(31_536_000))
        #expect(RetryAfter.parse("Sun, 06 Nov 1994 08:50:37 GMT", now: now) == .seconds(60))
        #expect(RetryAfter.parse("Sun, 06 Nov 1994 08:48:37 GMT", now: now) == .zero)
        #expect(RetryAfter.parse("Fri, 31 Dec 9999 23:59:59 GMT", now: now) == .seconds(31_536_000))
        // By the clock of the server, an hour ahead.
        let (date, sent) = ("Sun, 06 Nov 1994 09:50:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT")
        #expect(RetryAfter.parse(date, sent: sent, now: now) == .seconds(60))
        #expect(RetryAfter.parse(date, sent: "now", now: now) == .seconds(3660))
        for text in ["", "-1", "1.5", "soon", "12s"] {
            #expect(RetryAfter.parse(text, now: now) == nil, "\(text)")
        }
    }
}

/// Pages in the place of content: of networks that want a login, and of servers with an error.
@Suite struct MediaTypeTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private static func page(_ type: String = "text/html") -> TestAnswer {
        TestAnswer(200, ["Content-Type": type], body: Data("<html>Please log in</html>".utf8))
    }

    @Test(arguments: [
        "/a.mp3", "/a.M4B?x=1", "/a.webm", "/a.jpeg", "/a.tar.gz", "/a.zip", "/a.pdf", "/a.epub",
    ])
    func aPageIsNotTheFile(path: String) async throws {
        let server = try HTTPTestServer(
            inTurn: { _ in Self.page("Text/HTML; charset=utf-8") },
            { _ in Self.page("application/xhtml+xml") },
            { resource.answer(to: $0) })
        let download = cache.downloader().prefetch(DownloadRequest(server.url(path)))
        var reasons: [DownloadError.Reason] = []
        for await event in download.events {
            if case .retrying(_, let error) = event { reasons.append(error.reason) }
        }
        #expect(reasons == [.wrongMediaType("text/html"), .wrongMediaType("application/xhtml+xml")])
        #expect(try await cache.holds(content))
    }

    @Test func aPageIsSaidAndLeavesWhatIsThere() async throws {
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).cut(after: 2_200_000) }, { _ in Self.page() },
            { resource.answer(to: $0) }, { _ in Self.page() })
        let request = DownloadRequest(server.url("/a.mp3"))
        #expect(await cache.download(request) { $0.attempts = 1 }.error?.keptBytes == 2 << 20)
        let failed = await cache.download(request) { $0.attempts = 1 }
        #expect(failed.error?.reason == .wrongMediaType("text/html"))
        #expect(failed.error?.keptBytes == 2 << 20)
        #expect("\(failed)".contains("text/html"))
        #expect(await cache.download(request).isStored)
        #expect(server.requests[2].rangeStart == 2 << 20)
        #expect(await cache.download(request) { $0.attempts = 1 }.error != nil)
        #expect(try await cache.holds(content))
    }

    @Test(arguments: ["/", "/a", "/a.html", "/a.txt", "/feed.xml", "/mp3"])
    func aPageMayBeWhatIsWanted(path: String) async throws {
        let server = try HTTPTestServer { _ in Self.page() }
        #expect(await cache.download(DownloadRequest(server.url(path))).isStored)
    }

    @Test(arguments: [
        ("audio/*", "audio/mpeg", true), ("Audio/MPEG", "audio/mpeg", true), ("audio/*", "video/mp4", false),
        ("audio/mpeg", "audio/ogg", false), ("audio/*", "", true),
        ("audio/*", "application/octet-stream", true),
        ("audio/*", "text/html", false), ("text/html", "text/html", true), ("*/*", "text/html", true),
    ])
    func theTypeIsExpected(expected: String, type: String, isStored: Bool) async throws {
        let server = try HTTPTestServer { _ in Self.page(type) }
        let outcome = await cache.download(
            DownloadRequest(server.url("/a.mp3"), "item", .mediaType(expected)))
        #expect(outcome.isStored == isStored)
        #expect(outcome.error?.reason == (isStored ? nil : .wrongMediaType(type)))
        #expect(server.requests.count == (isStored ? 1 : 5))
    }

    @Test(arguments: [true, false])
    func aPageIsNoFileOfABundle(answersHead: Bool) async throws {
        let server = try HTTPTestServer { request in
            if request.method == "HEAD", answersHead { resource.answer(to: request) } else { Self.page() }
        }
        let request = DownloadRequest(
            bundle: [BundleFile("a.mp3", at: server.url("/a.mp3"))], key: "item",
            destination: .documents("Folder"))
        #expect(await cache.download(request).error?.reason == .wrongMediaType("text/html"))
    }
}
