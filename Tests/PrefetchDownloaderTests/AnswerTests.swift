import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(CPrefetchZlib)
    /// Bodies that a server declares as encoded: which are decoded, and which are what was asked for.
    @Suite struct ArchiveTests {
        private static let text = Data("<feed>many words, many words, many words</feed>".utf8)
        private static let gzip = text.compressed()

        private func stored(
            _ path: String, _ headers: [String: String], _ body: Data = gzip,
            with change: (inout DownloadRequest) -> Void = { _ in }
        ) async throws -> Data? {
            let cache = try await TestCache()
            let server = try HTTPTestServer { _ in
                TestAnswer(200, headers.merging(["ETag": "\"1\""]) { $1 }, body: body)
            }
            var request = DownloadRequest(server.url(path))
            change(&request)
            _ = await cache.download(request)
            return try await cache.cache.read("item")
        }

        private static func type(_ type: String, _ coding: String = "gzip") -> [String: String] {
            ["Content-Type": type, "Content-Encoding": coding]
        }

        @Test(arguments: [
            ("/foo.tar.gz", type("application/x-tar", "x-gzip")),
            ("/foo.tar.gz", type("application/octet-stream")),
            ("/foo.tgz", type("application/x-gtar", "x-gzip")), ("/FOO.TGZ", type("text/plain")),
            ("/feed.xml.gz", type("application/xml")), ("/map.svgz", type("image/svg+xml")),
            ("/get?file=foo.tar.gz", type("application/octet-stream")),
            ("/foo", type("application/gzip; x=y")),
            ("/foo", type("application/x-compressed-tar")),
            (
                "/foo",
                type("application/octet-stream").merging([
                    "Content-Disposition": "attachment; filename=\"foo.tar.gz\""
                ]) { $1 }
            ),
        ])
        func anArchiveIsStoredAsItIsSent(path: String, headers: [String: String]) async throws {
            #expect(try await stored(path, headers) == Self.gzip)
            #expect(
                try await stored(path, headers, with: { $0.allowsCompressedTransfer = false }) == Self.gzip)
            let digest = ContentExpectation.sha256(SHA256.digest(of: Self.gzip))
            #expect(try await stored(path, headers, with: { $0.expectations = [digest] }) == Self.gzip)
        }

        @Test func theNameOfTheFileSaysThatItIsAnArchive() async throws {
            let headers = Self.type("application/octet-stream")
            #expect(try await stored("/42", headers) == Self.text)
            #expect(
                try await stored("/42", headers, with: { $0.destination = .documents("Foo.tgz") })
                    == Self.gzip)
        }

        @Test(arguments: [
            ("/feed", "gzip"), ("/feed.xml", "x-gzip"), ("/page.html", "GZIP"),
            ("/feed", "gzip, aws-chunked"), ("/feed", "identity,gzip"), ("/a.gz/feed", "gzip"),
        ])
        func whatIsNoArchiveIsDecoded(path: String, coding: String) async throws {
            #expect(try await stored(path, Self.type("application/xml", coding)) == Self.text)
            // Servers that keep it so send it so to everyone.
            let plain = try await stored(
                path, Self.type("text/plain", coding), with: { $0.allowsCompressedTransfer = false })
            #expect(plain == Self.text)
        }

        /// An archive that the server has compressed once more, as it may, is the archive.
        @Test(arguments: ["/get", "/get.zip"])
        func anArchiveThatWasCompressedForTheTransferIsDecoded(path: String) async throws {
            #expect(try await stored(path, Self.type("application/zip")) == Self.text)
        }

        @Test(arguments: [
            "deflate", "br", "zstd", "compress", "x-bzip2", "UTF-8", "aws-chunked", "none", "8bit", "",
            "br, gzip",
        ])
        func anyOtherCodingIsStoredAsItIsSent(coding: String) async throws {
            #expect(try await stored("/feed", Self.type("text/plain", coding)) == Self.gzip)
        }

        @Test(arguments: ["/feed", "/feed.gz"], [text, gzip])
        func aDigestDecides(path: String, wanted: Data) async throws {
            for isOffered in [true, false] {
                let content = try await stored(path, Self.type("text/plain")) { request in
                    request.expectations = [.sha256(SHA256.digest(of: wanted))]
                    request.allowsCompressedTransfer = isOffered
                }
                #expect(content == wanted)
            }
        }

        /// It is declared as what it is not.
        @Test func aDigestDecidesWhatCannotBeDecoded() async throws {
            let digest = ContentExpectation.sha256(SHA256.digest(of: Self.text))
            #expect(try await stored("/feed", Self.type("text/plain"), Self.text) == nil)
            let content = try await stored("/feed", Self.type("text/plain"), Self.text) {
                $0.expectations = [digest]
            }
            #expect(content == Self.text)
        }

        @Test func archivesAreAskedForAsTheyAre() async throws {
            let cache = try await TestCache()
            let server = try HTTPTestServer { _ in TestAnswer(body: Self.gzip) }
            for path in ["/a.tar.gz", "/a.zip", "/a.xml"] {
                _ = await cache.download(DownloadRequest(server.url(path), try ItemKey(path)))
            }
            #expect(
                server.requests.map { $0.headers["accept-encoding"] } == [
                    "identity", "identity", "gzip",
                ])
        }

        @Test func anArchiveOfABundleIsStoredAsItIsSent() async throws {
            let cache = try await TestCache()
            let server = try HTTPTestServer { request in
                TestAnswer(
                    200, ["ETag": "\"1\"", "Content-Encoding": request.target == "/a.gz" ? "gzip" : "UTF-8"],
                    body: Self.gzip)
            }
            let files = try ["a.gz", "b"].map { BundleFile(try FolderPath($0), at: server.url("/\($0)")) }
            let request = DownloadRequest(bundle: files, key: "item", destination: .documents("Folder"))
            #expect(await cache.download(request).isStored)
            #expect(try await cache.holds(Self.gzip + Self.gzip))
        }
    }
#endif
