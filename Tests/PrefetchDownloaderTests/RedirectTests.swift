import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Where a downloader goes, and what it tells whom.
@Suite struct RedirectTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private static let secrets = [
        "Authorization": "Bearer secret", "Cookie": "secret=1", "X-API-Key": "secret",
    ]

    private func request(_ url: URL) -> DownloadRequest {
        DownloadRequest(url).with(Self.secrets).with(["Accept-Language": "en"])
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func aRedirectWithinAnOriginKeepsCredentials(status: Int) async throws {
        let server = try HTTPTestServer { request in
            request.target == "/old"
                ? TestAnswer(status, ["Location": "/new?x=1"], body: Data("moved".utf8))
                : resource.answer(to: request)
        }
        #expect(await cache.download(request(server.url("/old"))).isStored)
        #expect(server.requests.map(\.target) == ["/old", "/new?x=1"])
        #expect(server.requests[1].headers["authorization"] == "Bearer secret")
        #expect(try await cache.holds(content))
    }

    @Test(arguments: [
        "x/y", "?q=1", "#f", "//", "///x", "//%5B::1%5D/x", "//a b/c", "//%zz/", "/%zz", "//host:99999/x",
        "//host:-1/x", "//user:pw@h/x", "http:x", "http:/x", "http://", "http:///x", "http://[::1]:1/x",
        "//[::1]/x",
        "http://[x/",
        "://x", ":", "mailto:x", "//\u{0}", "/\u{1F600}", "//xn--/", "//\u{FFFF}/", "\\\\h\\x", "//h\\x/",
    ])
    func noTargetEndsTheProcess(_ target: String) async throws {
        let server = try HTTPTestServer { request in
            request.target == "/old" ? TestAnswer(302, ["Location": target]) : TestAnswer(404)
        }
        #expect(await cache.download(request(server.url("/old"))).error != nil)
    }

    @Test func anotherOriginIsToldNoSecret() async throws {
        let other = try HTTPTestServer { resource.answer(to: $0) }
        let server = try HTTPTestServer { _ in TestAnswer(302, ["Location": other.url().absoluteString]) }
        #expect(await cache.download(request(server.url())).isStored)
        for name in Self.secrets.keys {
            #expect(server.requests[0].headers[name.lowercased()] != nil)
            #expect(other.requests[0].headers[name.lowercased()] == nil)
        }
        #expect(other.requests[0].headers["accept-language"] == "en")
        #expect(other.requests[0].headers["accept-encoding"] == "gzip")
    }

    @Test func aRestIsAskedForBehindARedirect() async throws {
        let other = try HTTPTestServer(breakingAt: 2_200_000)
        let server = try HTTPTestServer { _ in TestAnswer(302, ["Location": other.url().absoluteString]) }
        #expect(await cache.download(DownloadRequest(server.url())).isStored)
        #expect(other.requests.map(\.rangeStart) == [nil, 2 << 20])
        #expect(try await cache.holds(content))
    }

    @Test func aLoopEnds() async throws {
        let server = try HTTPTestServer { TestAnswer(302, ["Location": $0.target == "/a" ? "/b" : "/a"]) }
        let outcome = await cache.download(DownloadRequest(server.url("/a"))) { $0.redirects = 3 }
        #expect(outcome.error?.reason == .tooManyRedirects(limit: 3))
        #expect(server.requests.count == 4)
    }

    @Test(
        arguments: [
            ("http://example.org/x", "http://example.org"),
            ("https://sub.example.org:8443/x", "https://sub.example.org:8443"),
            ("http://127.0.0.2/x", "http://127.0.0.2"), ("ftp://127.0.0.1/x", "ftp://127.0.0.1"),
            ("file:///etc/passwd", "nowhere"), ("javascript:alert(1)", "nowhere"), ("data:,x", "nowhere"),
            ("mailto:a@b", "nowhere"), (nil, "nowhere"),
        ] as [(String?, String)])
    func aRedirectToWhereNothingIsAllowedIsNotFollowed(target: String?, origin: String) async throws {
        let server = try HTTPTestServer { _ in TestAnswer(302, target.map { ["Location": $0] } ?? [:]) }
        #expect(await cache.download(DownloadRequest(server.url())).error?.reason == .redirect(to: origin))
    }

    @Test func aSecureConnectionIsNotGivenUp() throws {
        let url = try #require(URL(string: "https://127.0.0.1/file"))
        let configuration = DownloaderConfiguration(hosts: .any)
        #expect(throws: DownloadError.Reason.redirect(to: "http://127.0.0.1")) {
            _ = try Redirect.next(after: URLRequest(url: url), to: "http://127.0.0.1/file", configuration)
        }
        #expect(throws: Never.self) {
            _ = try Redirect.next(after: URLRequest(url: url), to: "https://example.org/", configuration)
        }
    }

    @Test func whoMayBeAsked() throws {
        var configuration = DownloaderConfiguration(hosts: [
            "example.org", "*.example.net", "127.0.0.1", "127.0.0.1.example.com", "Bücher.example",
            "*.日本.example",
        ])
        for (text, problem) in [
            ("https://example.org/a", nil), ("https://EXAMPLE.org:8443/a", nil),
            ("https://a.b.example.net/", nil), ("https://example.net/", .hostNotAllowed),
            ("https://badexample.net/", .hostNotAllowed),
            ("https://example.org.evil.example/", .hostNotAllowed),
            ("https://example.org@evil.example/", .hostNotAllowed), ("http://example.org/", .insecure),
            ("http://127.0.0.1/", nil), ("http://127.0.0.1.example.com/", .insecure),
            ("file:///etc/passwd", .unsupportedURL), ("ftp://example.org/", .unsupportedURL),
            ("https://bücher.example/", nil), ("https://xn--bcher-kva.example/", nil),
            ("https://a.日本.example/", nil), ("https://bucher.example/", .hostNotAllowed),
        ] as [(String, DownloadError.Reason?)] {
            let url = try #require(URL(string: text))
            #expect(configuration.problem(of: url) == problem, "\(text)")
        }
        configuration.allowsInsecureHTTP = true
        #expect(configuration.problem(of: URL(string: "http://example.org/")) == nil)
    }

    @Test func nobodyIsAskedWhoIsNotAllowed() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let outcome = await cache.download(DownloadRequest(server.url())) { $0.hosts = ["example.org"] }
        #expect(outcome.error?.reason == .hostNotAllowed)
        #expect(server.requests.isEmpty)
    }
}

/// Cookies that are set along a chain of redirects.
@Suite struct CookieTests {
    /// What is sent to a URL after another one has set cookies.
    private func sent(
        _ lines: [String], to second: String = "https://www.example.org/", own: String? = nil
    ) throws -> String? {
        var cookies = ChainCookies()
        let head = ResponseHead(status: 302, fields: lines.map { ("Set-Cookie", $0) })
        cookies.take(from: head, at: URL(string: "https://www.example.org/a/b"))
        var request = URLRequest(url: try #require(URL(string: second)))
        request.setValue(own, forHTTPHeaderField: "Cookie")
        return cookies.added(to: request).value(forHTTPHeaderField: "Cookie")
    }

    @Test(
        arguments: [
            ("a=1", "https://www.example.org/a/c", "a=1"), ("a=1; Path=/x", "https://WWW.example.org", "a=1"),
            ("a=1; Domain=example.org", "https://example.org/", nil), ("a=1", "https://x.org/", nil),
            ("a=1", "https://x.www.example.org/", nil),
        ] as [(String, String, String?)])
    func aCookieIsSentBackToItsHost(line: String, url: String, cookie: String?) throws {
        #expect(try sent([line], to: url) == cookie)
    }

    @Test func whatIsACookie() throws {
        for line in ["a", "=1", "", "a=\(String(repeating: "x", count: 5000))"] {
            #expect(try sent([line]) == nil)
        }
        #expect(try sent([" a = b=c d ;x"]) == "a=b=c d")
        #expect(try sent(["a=; Path=/"]) == "a=")
        #expect(try sent(["a=1", "b=2", "a=3"]) == "b=2; a=3")
        #expect(try sent(["a=1"], own: "a=0; own=2") == "own=2; a=1")
        #expect(try sent((0..<80).map { "a\($0)=1" })?.split(separator: ";").count == 50)
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
