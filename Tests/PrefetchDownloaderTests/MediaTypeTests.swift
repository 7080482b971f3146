import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

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
