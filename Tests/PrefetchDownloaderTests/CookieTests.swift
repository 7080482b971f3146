import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Cookies that are set along a chain of redirects.
@Suite struct CookieTests {
    private static let now: Int64 = 1_700_000_000

    /// What is sent to the second URL after the first has set cookies.
    private func sent(
        _ lines: [String], from first: String = "https://www.example.org/a/b", to second: String,
        own: String? = nil
    ) throws -> String? {
        var cookies = ChainCookies()
        let head = ResponseHead(status: 302, fields: lines.map { ("Set-Cookie", $0) })
        cookies.take(from: head, at: URL(string: first), now: Self.now)
        var request = URLRequest(url: try #require(URL(string: second)))
        request.setValue(own, forHTTPHeaderField: "Cookie")
        return cookies.added(to: request).value(forHTTPHeaderField: "Cookie")
    }

    @Test(
        arguments: [
            ("a=1", "https://www.example.org/a/c", "a=1"), ("a=1", "https://www.example.org/a", "a=1"),
            ("a=1", "https://www.example.org/ab", nil), ("a=1", "https://www.example.org/", nil),
            ("a=1; Path=/", "https://www.example.org", "a=1"),
            ("a=1; path=/x", "https://www.example.org/x/y", "a=1"),
            ("a=1; Path=/x", "https://www.example.org/xy", nil),
            ("a=1; Path=x", "https://www.example.org/a/", "a=1"),
            // Hosts.
            ("a=1; Path=/", "https://example.org/", nil), ("a=1; Path=/", "https://x.www.example.org/", nil),
            ("a=1; Path=/; Domain=example.org", "https://example.org/", "a=1"),
            ("a=1; Path=/; Domain=.Example.org", "https://x.y.example.org/", "a=1"),
            ("a=1; Path=/; Domain=example.org", "https://badexample.org/", nil),
            ("a=1; Path=/; Domain=example.com", "https://example.com/", nil),
            ("a=1; Path=/; Domain=org", "https://x.org/", nil),
            ("a=1; Path=/; Domain=x.www.example.org", "https://x.www.example.org/", nil),
            ("a=1; Path=/; Domain=", "https://www.example.org/", "a=1"),
            // Secure ones.
            ("a=1; Path=/; Secure", "https://www.example.org/", "a=1"),
            ("a=1; Path=/; Secure", "http://www.example.org/", nil),
            ("a=1; Path=/", "http://www.example.org:8080/", "a=1"),
            ("__Secure-a=1; Path=/", "https://www.example.org/", nil),
            ("__Host-a=1; Path=/; Secure", "https://www.example.org/", "__Host-a=1"),
            ("__Host-a=1; Path=/; Secure; Domain=example.org", "https://www.example.org/", nil),
            // Times.
            ("a=1; Path=/; Max-Age=60", "https://www.example.org/", "a=1"),
            ("a=1; Path=/; Max-Age=0", "https://www.example.org/", nil),
            (
                "a=1; Path=/; Max-Age=-1; Expires=Fri, 31 Dec 2100 00:00:00 GMT", "https://www.example.org/",
                nil
            ),
            ("a=1; Path=/; Expires=Thu, 01-Jan-1970 00:00:00 GMT", "https://www.example.org/", nil),
            ("a=1; Path=/; Expires=Fri, 31-Dec-2100 00:00:00 GMT", "https://www.example.org/", "a=1"),
            // What is one.
            ("a", "https://www.example.org/a/", nil), ("=1", "https://www.example.org/a/", nil),
            ("", "https://www.example.org/a/", nil),
            (" a = b=c d ;x", "https://www.example.org/a/", "a=b=c d"),
            ("a=; Path=/", "https://www.example.org/", "a="),
            ("a=\(String(repeating: "x", count: 5000))", "https://www.example.org/a/", nil),
        ] as [(String, String, String?)])
    func aCookieIsSentBackWhereItBelongs(line: String, url: String, cookie: String?) throws {
        #expect(try sent([line], to: url) == cookie)
    }

    @Test func theLastOfANameCountsAndTheLongerPathComesFirst() throws {
        #expect(
            try sent(["a=1", "b=2; Path=/", "a=3", "c=4; Path=/"], to: "https://www.example.org/a/")
                == "a=3; b=2; c=4")
        #expect(try sent(["a=1", "a=1; Max-Age=0"], to: "https://www.example.org/a/") == nil)
        #expect(try sent(["a=1"], to: "https://www.example.org/a/", own: "a=0; own=2") == "own=2; a=1")
        #expect(
            try sent((0..<80).map { "a\($0)=1" }, to: "https://www.example.org/a/")?.split(separator: ";")
                .count == 50)
        let local = "http://127.0.0.1/"
        #expect(try sent(["a=1; Secure"], from: local, to: local) == "a=1")
        #expect(try sent(["a=1; Domain=0.0.1"], from: local, to: local) == nil)
    }

    @Test func aServerGetsBackWhatItSetAlongTheChain() async throws {
        let cache = try await TestCache()
        let server = try HTTPTestServer { request in
            request.headers["cookie"]?.contains("seen=1") == true
                ? resource.answer(to: request)
                : TestAnswer(302, ["Set-Cookie": "seen=1; Path=/", "Location": request.target])
        }
        let downloader = cache.downloader()
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome.isStored)
        #expect(await downloader.prefetch(DownloadRequest(server.url(), "other")).outcome.isStored)
        // Forgotten in between.
        #expect(server.requests.map { $0.headers["cookie"] } == [nil, "seen=1", nil, "seen=1"])
    }
}
