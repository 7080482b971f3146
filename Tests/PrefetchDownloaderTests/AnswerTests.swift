import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(CPrefetchZlib)
    /// What is stored of what servers send, beside what `curl --location --compressed` stores.
    @Suite(.enabled(if: Curl.program != nil, "curl is missing; '.ci/setup --servers' installs it."))
    struct OddAnswerTests {
        private struct Case {
            let name: String
            let path: String
            /// What the server sends, byte for byte.
            let answer: @Sendable (TestRequest) -> Data

            init(
                _ name: String, at path: String = "/file", _ answer: @escaping @Sendable (TestRequest) -> Data
            ) {
                (self.name, self.path, self.answer) = (name, path, answer)
            }

            init(_ name: String, at path: String = "/file", _ fields: String, _ body: Data = text) {
                self.init(name, at: path) { _ in OddAnswerTests.answer(fields, body) }
            }
        }

        private static func answer(_ fields: String, _ body: Data, _ status: String = "200 OK") -> Data {
            let lines = fields.isEmpty ? "" : fields + "\n"
            let head = "HTTP/1.1 \(status)\nConnection: close\n\(lines)Content-Length: \(body.count)\n\n"
            return Data(head.replacing("\n", with: "\r\n").utf8) + body
        }

        private static let text = Data("a line of text, a line of text, a line of text\n".utf8)
        private static let gzip = text.compressed()
        private static let zip = Data("PK\u{3}\u{4}".utf8) + text

        private static let cases: [Case] =
            HostileServerTests.answers.map { answer in Case(answer.name) { _ in answer.bytes } }
            // Codings that are none.
            + [
                "", "identity", "Identity", "UTF-8", "aws-chunked", "none", "binary", "8bit", "x-unknown",
                "text/plain",
            ].map {
                Case("coding '\($0)'", "Content-Encoding: \($0)")
            } + [
                Case("gzip and none", "Content-Encoding: aws-chunked, gzip", gzip),
                Case("none and gzip", "Content-Encoding: gzip,identity", gzip),
                Case("gzip in a second field", "Content-Encoding: identity\nContent-Encoding: gzip", gzip),
                Case(
                    "gzip of a type", "Content-Type: application/json; charset=utf-8\nContent-Encoding: gzip",
                    gzip),
                Case(
                    "gzip of HTML", at: "/page.html", "Content-Type: text/html\nContent-Encoding: gzip", gzip),
                Case("compress", at: "/file.Z", "Content-Encoding: x-compress"),
                Case("a bare archive", at: "/file.tar.gz", "Content-Type: application/gzip", gzip),
                Case("an archive as text", at: "/file.gz", "Content-Type: text/plain", gzip),
                Case("a zip of a coding that is none", at: "/file.zip", "Content-Encoding: binary", zip),
                // Archives that are declared as encoded.
                Case(
                    "tar.gz, x-tar", at: "/a.tar.gz",
                    "Content-Type: application/x-tar\nContent-Encoding: x-gzip",
                    gzip),
                Case(
                    "tgz, x-gtar", at: "/a.tgz", "Content-Type: application/x-gtar\nContent-Encoding: gzip",
                    gzip),
                Case(
                    "xml.gz", at: "/a.xml.gz", "Content-Type: application/xml\nContent-Encoding: gzip", gzip),
                Case(
                    "x-gzip without a name", at: "/a",
                    "Content-Type: application/x-gzip\nContent-Encoding: gzip",
                    gzip),
                Case(
                    "a zip that the server compressed", at: "/a",
                    "Content-Type: application/zip\nContent-Encoding: gzip", zip.compressed()),
                Case("bz2", at: "/a.tar.bz2", "Content-Type: application/x-tar\nContent-Encoding: x-bzip2"),
                // Redirects.
                Case("a chain of 20") { request in
                    let step = Int(request.target.split(separator: "/").last ?? "") ?? 20
                    return step == 0 ? answer("", text) : answer("Location: \(step - 1)", Data(), "302 Found")
                },
                Case("a chain of 21") { request in
                    let step = Int(request.target.split(separator: "/").last ?? "") ?? 21
                    return step == 0 ? answer("", text) : answer("Location: \(step - 1)", Data(), "302 Found")
                },
                Case("a page beside a redirect") { request in
                    request.target.hasSuffix("x")
                        ? answer("", text) : answer("Location: x", Data("moved".utf8), "301 Moved")
                },
                Case("a cookie that is wanted back") { request in
                    request.headers["cookie"]?.contains("seen=1") == true
                        ? answer("", text)
                        : answer("Set-Cookie: seen=1; Path=/\nLocation: file", Data(), "302 Found")
                },
                Case("300 without a place") { _ in answer("", text, "300 Multiple Choices") },
                Case("302 without a place") { _ in answer("", text, "302 Found") },
                Case("201") { _ in answer("", text, "201 Created") },
                Case("203") { _ in answer("", text, "203 Non-Authoritative") },
                Case("nothing", "", Data()),

            ]

        /// Where something else is stored, or nothing, and why.
        private static let differences: [String: String] = {
            let reasons: [(reason: String, names: [String])] = [
                (
                    "a coding that is none, or was not offered, changes nothing of what is sent; wget and browsers take it, too",
                    [
                        "coding 'UTF-8'", "coding 'aws-chunked'", "coding 'binary'",
                        "coding '8bit'",
                        "coding 'x-unknown'", "coding 'text/plain'", "gzip and none", "compress", "bz2",
                        "a zip of a coding that is none", "an encoding that nobody asked for",
                        "an unknown encoding",
                    ]
                ),
                (
                    "what was asked for is the archive; curl unpacks it, unless it is called without --compressed",
                    [
                        "tar.gz, x-tar", "tgz, x-gtar", "xml.gz", "x-gzip without a name",
                        "an archive that is declared as encoded",
                    ]
                ),
                (
                    "a body is complete where its coding ends, with its checksum",
                    [
                        "gzip that ends early", "gzip without its checksum", "gzip of nothing at all",
                        "zlib as gzip",
                    ]
                ),
                ("a member may follow another (RFC 1952, section 2.2)", ["gzip in two members"]),
                ("what expands so far is asked for plain, and then was sent in the same way", ["a bomb"]),
                (
                    "a length that is none, or no end, may hide that content is missing",
                    [
                        "no length", "half a head", "a far longer length", "a longer length",
                        "a length and more",
                        "a length in hexadecimal", "a signed length", "two lengths in one field",
                    ]
                ),
                ("only so much is read", ["trailers without end"]),
                (
                    "only 200 is the answer to a question for content; 203 is what a proxy has made of it",
                    ["201", "203", "204", "299", "300 without a place", "302 without a place"]
                ),
            ]
            return Dictionary(
                uniqueKeysWithValues: reasons.flatMap { each in each.names.map { ($0, each.reason) } })
        }()

        @Test func theSameBytesAreStoredAsByCurl() async throws {
            let cases = Self.cases
            let server = try HTTPTestServer { request in
                let index = Int(request.target.dropFirst().prefix { $0.isNumber }) ?? 0
                return .raw(cases[index].answer(request))
            }
            let urls = cases.indices.map { server.url("/\($0)\(cases[$0].path)") }
            let theirs = try Curl.fetch(
                urls.map(\.absoluteString), options: ["max-redirs = 20", #"cookie = "/dev/null""#])
            let cache = try await TestCache()
            var found: [String: String] = [:]
            for (index, curl) in theirs.enumerated() {
                // One that has not been told by an answer before to leave the host alone.
                let downloader = cache.downloader { $0.attempts = 3 }
                let key = try ItemKey("\(index)")
                let outcome = await downloader.prefetch(DownloadRequest(urls[index], key)).outcome
                let stored = try await cache.cache.read(key)
                let same = stored == (curl.code == 0 ? curl.content : nil)
                if !same {
                    found[cases[index].name] =
                        "curl: \(curl.code == 0 ? "\(curl.content.count) bytes" : "error \(curl.code)"), here: "
                        + (stored.map { "\($0.count) bytes" }
                            ?? "\(outcome.error.map { "\($0.reason)" } ?? "\(outcome)")")
                }
            }
            for (name, difference) in found where Self.differences[name] == nil {
                Issue.record("\(name): \(difference)")
            }
            for name in Self.differences.keys where found[name] == nil {
                Issue.record("\(name): there is no difference")
            }
        }
    }
#endif

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
            ("/feed", "gzip, aws-chunked"), ("/a.gz/feed", "gzip"),
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
            "br", "zstd", "compress", "x-bzip2", "UTF-8", "aws-chunked", "none", "8bit", "", "br, gzip",
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
                    "identity", "identity", "gzip, deflate",
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
