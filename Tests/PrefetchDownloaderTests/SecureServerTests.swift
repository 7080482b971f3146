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
