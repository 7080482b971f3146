import FileSystemTestSupport
import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if os(Linux)
    /// Downloads by `https` from a real server.
    @Suite(
        .enabled(
            if: Nginx.program != nil && Nginx.openSSL != nil,
            "nginx or openssl is missing; '.ci/setup --servers' installs them."))
    struct SecureServerTests {
        private let nginx: Nginx

        init() throws {
            nginx = try Nginx(isSecure: true)
        }

        private func request(_ name: String, on server: String? = nil) throws -> DownloadRequest {
            DownloadRequest(try #require(URL(string: server ?? nginx.url(name))), try ItemKey(name))
        }

        @Test func manyFilesShareFewConnectionsOfHTTP2() async throws {
            let cache = try await TestCache()
            let names = (0..<60).map { "\($0)" }
            for name in names { try Data(name.utf8).write(to: nginx.files.appending(path: name)) }
            let downloader = cache.downloader(in: { [nginx] in
                $0.transport = CurlTransport(authorities: nginx.authorities)
            })
            for download in downloader.prefetch(try names.map { try request($0) }) {
                #expect(await download.outcome.isStored)
            }
            for name in names { #expect(try await cache.cache.read(ItemKey(name)) == Data(name.utf8)) }
            let entries = nginx.stop()
            #expect(entries.count == names.count)
            #expect(entries.allSatisfy { $0.version == "HTTP/2.0" && $0.status == 200 })
            // One would do, but the first ones begin before the server has said that it speaks HTTP/2.
            #expect(Set(entries.map(\.connection)).count <= 6)
        }

        @Test func aCertificateThatIsNotTrustedFailsAtOnce() async throws {
            let cache = try await TestCache()
            try Data("content".utf8).write(to: nginx.files.appending(path: "file"))
            let outcome = await cache.download(try request("file"))
            #expect(outcome.error?.reason == .connection(.notTrusted))
            #expect(cache.clock.slept == [])
            #expect(nginx.stop().isEmpty)
        }

        @Test func aCertificateForAnotherNameIsNotTrusted() async throws {
            let cache = try await TestCache()
            let url = nginx.url("file").replacing("127.0.0.1", with: "localhost")
            let downloader = cache.downloader(in: { [nginx] in
                $0.transport = CurlTransport(authorities: nginx.authorities)
            })
            let outcome = await downloader.prefetch(try request("file", on: url)).outcome
            #expect(outcome.error?.reason == .connection(.notTrusted))
            #expect(cache.clock.slept == [])
        }
    }
#endif

/// Downloads by `URLSession`, as on Apple platforms. That of Linux, where nothing here uses it, now and then takes the whole
/// process with it, and all other tests.
@Suite(.enabled(if: TestRun.isLong)) struct SessionTransportTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private func downloader(_ cache: TestCache) -> PrefetchDownloader {
        cache.downloader({ $0.attempts = 1 }, in: { $0.transport = SessionTransport() })
    }

    @Test func contentIsStoredAndResumed() async throws {
        let server = try HTTPTestServer(
            inTurn: { resource.answer(to: $0).cut(after: 2_200_000) }, { resource.answer(to: $0) },
            { resource.answer(to: $0) })
        let downloader = downloader(cache)
        let cut = await downloader.prefetch(DownloadRequest(server.url())).outcome
        #expect(cut.error?.reason == .truncated(received: 2_200_000, announced: 5_500_000))
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome.isStored)
        #expect(try await cache.holds(content))
        #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome == .notModified)
        #expect(server.requests.map(\.rangeStart) == [nil, 2 << 20, nil])
    }

    @Test func redirectsAreFollowedByTheDownloader() async throws {
        let server = try HTTPTestServer { request in
            request.target == "/old"
                ? TestAnswer(302, ["Location": "/new"], body: Data("moved".utf8))
                : resource.answer(to: request)
        }
        #expect(await downloader(cache).prefetch(DownloadRequest(server.url("/old"))).outcome.isStored)
        let elsewhere = try HTTPTestServer { _ in TestAnswer(302, ["Location": "http://elsewhere.example/"]) }
        let outcome = await downloader(cache).prefetch(DownloadRequest(elsewhere.url(), "other")).outcome
        #expect(outcome.error?.reason == .redirect(to: "http://elsewhere.example"))
    }

    @Test func failuresHaveTheirReasons() async throws {
        let server = try HTTPTestServer { _ in TestAnswer(404) }
        let request = DownloadRequest(server.url())
        #expect(
            await downloader(cache).prefetch(request).outcome.error?.reason == .status(404, retryAfter: nil))
        server.close()
        #expect(
            await downloader(cache).prefetch(request).outcome.error?.reason == .connection(.cannotConnect))
    }

    @Test func aTransferCanBeCancelled() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: 3_400_000, .stall) }
        let download = downloader(cache).prefetch(DownloadRequest(server.url()))
        await download.hasReceived(3_400_000)
        download.cancel()
        #expect(await download.outcome == .cancelled(keptBytes: 3 << 20))
    }
}
