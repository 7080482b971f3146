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
            let downloader = cache.downloader { $0.attempts = 3 }
            var found: [String: String] = [:]
            for (index, curl) in theirs.enumerated() {
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
