import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What servers send that is seldom seen, or wrong: all of it has a defined end, and none of it ends the process.
@Suite struct HostileServerTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    enum Outcome: Sendable {
        case stored
        case failed(DownloadError.Reason)
        /// For a reason that depends on when the connection is closed.
        case failedSomehow

        static let malformed = failed(.connection(.malformed))
        static let undecodable = failed(.undecodable)

        static func status(_ status: Int) -> Outcome { .failed(.status(status, retryAfter: nil)) }
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: Data
        let outcome: Outcome

        var testDescription: String { name }

        init(_ name: String, _ text: String, _ outcome: Outcome) {
            self.init(name, Data(text.replacing("\n", with: "\r\n").utf8), outcome)
        }

        init(_ name: String, _ bytes: Data, _ outcome: Outcome) {
            self.name = name
            self.bytes = bytes
            self.outcome = outcome
        }
    }

    private static let body = "content"
    private static let ok = "HTTP/1.1 200 OK\n"
    private static let whole = ok + "Content-Length: 7\n\ncontent"
    private static let chunked = ok + "Transfer-Encoding: chunked\n"

    private static func latin1(_ text: String) -> Data {
        text.replacing("\n", with: "\r\n").data(using: .isoLatin1) ?? Data()
    }

    static let answers =
        [
            Answer("as usual", whole, .stored),
            // Framing.
            Answer("chunks", chunked + "\n3\ncon\n4\ntent\n0\n\n", .stored),
            Answer("a trailer field", chunked + "Trailer: X\n\n7\ncontent\n0\nX: 1\n\n", .stored),
            Answer(
                "a trailer that contradicts", chunked + "\n7\ncontent\n0\nContent-Length: 3\nETag: \"2\"\n\n",
                .stored),
            Answer(
                "trailers without end", chunked + "\n7\ncontent\n0\n" + lines(400_000) + "\n",
                .malformed),
            Answer("chunks and a length", chunked + "Content-Length: 3\n\n7\ncontent\n0\n\n", .stored),
            Answer(
                "chunks and no length", chunked + "Content-Length: x\n\n7\ncontent\n0\n\n",
                .malformed),
            Answer("chunks with extensions", chunked + "\n7;a=\"b\"\ncontent\n0;c\n\n", .stored),
            Answer("a chunk without a length", chunked + "\nxyz\ncontent\n0\n\n", .failedSomehow),
            Answer(
                "a chunk that is too long", chunked + "\nFFFFFFFFFFFFFFFFF\ncontent\n0\n\n", .failedSomehow),
            Answer("chunks that end early", chunked + "\n7\ncontent\n", .failedSomehow),
            Answer(
                "a length that ends early", ok + "Content-Length: 9\n\ncontent",
                .failed(.truncated(received: 7, announced: 9))),
            Answer("more than announced", ok + "Content-Length: 7\n\ncontent and more", .stored),
            Answer("one length twice", ok + "Content-Length: 7\nContent-Length: 7\n\ncontent", .stored),
            Answer(
                "two lengths", ok + "Content-Length: 7\nContent-Length: 8\n\ncontent",
                .malformed),
            Answer(
                "two lengths in one field", ok + "Content-Length: 7, 8\n\ncontent",
                .malformed),
            Answer(
                "a negative length", ok + "Content-Length: -7\n\ncontent", .malformed),
            Answer("a signed length", ok + "Content-Length: +7\n\ncontent", .malformed),
            Answer(
                "a length in hexadecimal", ok + "Content-Length: 0x7\n\ncontent",
                .malformed
            ),
            Answer(
                "a length and more", ok + "Content-Length: 7 bytes\n\ncontent",
                .malformed),
            Answer("no length", ok + "\ncontent", .failed(.undelimitedBody)),
            Answer(
                "the longest length", ok + "Content-Length: 9223372036854775807\n\ncontent", .failedSomehow),
            Answer(
                "a longer length", ok + "Content-Length: 9223372036854775808\n\ncontent",
                .malformed),
            Answer(
                "a far longer length", ok + "Content-Length: 99999999999999999999999999\n\n",
                .malformed),
            Answer("HTTP/1.0", "HTTP/1.0 200 OK\nContent-Length: 7\n\ncontent", .stored),
            Answer("no HTTP", "content", .failedSomehow),
            Answer("nothing", "", .failed(.connection(.connectionLost))),
            Answer("half a head", "HTTP/1.1 200 OK\nContent-", .failedSomehow),
            // Interim responses.
            Answer("100 Continue", "HTTP/1.1 100 Continue\n\n" + whole, .stored),
            Answer("102 Processing", "HTTP/1.1 102 Processing\nDate: x\n\n" + whole, .stored),
            Answer(
                "103 Early Hints", "HTTP/1.1 103 Early Hints\nLink: </a>\nContent-Length: 3\n\n" + whole,
                .stored),
            Answer(
                "three interim responses", String(repeating: "HTTP/1.1 102 P\n\n", count: 3) + whole, .stored),
            Answer(
                "interim responses without end", String(repeating: "HTTP/1.1 102 P\n\n", count: 30_000),
                .malformed),
            Answer(
                "101 Switching Protocols", "HTTP/1.1 101 S\nUpgrade: h2c\nConnection: Upgrade\n\n",
                .failedSomehow
            ),
            // Fields.
            Answer(
                "Latin-1",
                latin1(
                    ok
                        + "Content-Disposition: attachment; filename=\"café.mp3\"\nContent-Length: 7\n\ncontent"
                ),
                .stored),
            Answer(
                "UTF-8",
                ok + "Content-Disposition: attachment; filename=\"café.mp3\"\nContent-Length: 7\n\ncontent",
                .stored),
            Answer("a continued field", ok + "X: a\n b\n\tc\nContent-Length: 7\n\ncontent", .stored),
            Answer(
                "a field without a colon", ok + "nonsense\nContent-Length: 7\n\ncontent",
                .malformed),
            Answer("a field without a name", ok + ": x\nContent-Length: 7\n\ncontent", .stored),
            Answer("a NUL in a field", ok + "X: a\0b\nContent-Length: 7\n\ncontent", .failedSomehow),
            Answer("line feeds alone", Data(whole.utf8), .stored),
            Answer("no reason", "HTTP/1.1 200\nContent-Length: 7\n\ncontent", .stored),
            Answer(
                "a field without end", ok + "X: " + String(repeating: "x", count: 2_000_000), .failedSomehow),
            Answer("fields without end", ok + lines(2_000_000) + "\n", .malformed),
            Answer(
                "a date of the server's clock",
                "HTTP/1.1 503 X\nDate: Sun, 06 Nov 1994 08:49:37 GMT\nRetry-After: Sun, 06 Nov 1994 09:49:37 GMT\nContent-Length: 0\n\n",
                .failed(.status(503, retryAfter: .seconds(3600)))),
            Answer("cookies", ok + "Set-Cookie: a=b; Path=/\nContent-Length: 7\n\ncontent", .stored),
            // Statuses.
            Answer("201", "HTTP/1.1 201 X\nContent-Length: 7\n\ncontent", .status(201)),
            Answer("203", "HTTP/1.1 203 X\nContent-Length: 7\n\ncontent", .status(203)),
            Answer("300", "HTTP/1.1 300 X\nContent-Length: 7\n\ncontent", .status(300)),
            Answer("204", "HTTP/1.1 204 No Content\n\n", .status(204)),
            Answer(
                "299", "HTTP/1.1 299 X\nContent-Length: 7\n\ncontent", .status(299)),
            Answer("999", "HTTP/1.1 999 X\nContent-Length: 0\n\n", .status(999)),
            Answer(
                "a status of four digits", "HTTP/1.1 2000 X\nContent-Length: 7\n\ncontent", .failedSomehow),
            Answer("a status of no digits", "HTTP/1.1 abc X\nContent-Length: 7\n\ncontent", .failedSomehow),
            Answer(
                "401",
                "HTTP/1.1 401 X\nWWW-Authenticate: Digest realm=\"x\", nonce=\"y\"\nContent-Length: 0\n\n",
                .status(401)),
            Answer(
                "407", "HTTP/1.1 407 X\nProxy-Authenticate: Basic\nContent-Length: 0\n\n",
                .status(407)),
            // Encodings.
            Answer("an encoding that nobody asked for", encoded("br", text), .stored),
            Answer("deflate", encoded("deflate", text), .stored),
            Answer("an unknown encoding", encoded("x-bomb", text), .stored),
            Answer("an encoding twice", encoded("gzip, gzip", text), .failed(.encoded("gzip, gzip"))),
            Answer("identity", encoded("identity", text), .stored),
            Answer("gzip that is none", encoded("gzip", text), .undecodable),
            Answer(
                "an archive that is declared as encoded", encoded("gzip", text, "application/x-gzip"), .stored
            ),
            Answer(
                "a transfer coding of its own", ok + "Transfer-Encoding: gzip, chunked\n\n7\ncontent\n0\n\n",
                .failed(.encoded("gzip, chunked"))),
        ] + compressed

    private static let text = Data(body.utf8)

    /// - Parameter length: What is announced, if that is not the length of the body.
    private static func encoded(
        _ name: String, _ body: Data, _ type: String = "text/plain", length: Int? = nil
    ) -> Data {
        let head =
            "Content-Encoding: \(name)\nContent-Type: \(type)\nContent-Length: \(length ?? body.count)\n\n"
        return Data((ok + head).replacing("\n", with: "\r\n").utf8) + body
    }

    #if canImport(CPrefetchZlib)
        private static var compressed: [Answer] {
            let gzip = text.compressed()
            var (wrongSum, wrongLength) = (gzip, gzip)
            wrongSum[gzip.count - 5] ^= 1
            wrongLength[gzip.count - 1] ^= 1
            let chunks = chunked + "Content-Encoding: gzip\n\n\(String(gzip.count, radix: 16))\n"
            let crlf = Data("\r\n".utf8)
            return [
                Answer("gzip", encoded("gzip", gzip), .stored),
                Answer("GZip", encoded("GZip", gzip), .stored),
                Answer("x-gzip", encoded("x-gzip", gzip), .stored),
                Answer(
                    "gzip in two members",
                    encoded("gzip", text.prefix(3).compressed() + Data(text.dropFirst(3)).compressed()),
                    .stored),
                Answer(
                    "gzip in chunks",
                    Data(chunks.replacing("\n", with: "\r\n").utf8) + gzip + crlf + Data("0".utf8) + crlf
                        + crlf,
                    .stored),
                Answer("gzip that ends early", encoded("gzip", gzip.dropLast(3)), .undecodable),
                Answer("gzip without its checksum", encoded("gzip", gzip.dropLast(8)), .undecodable),
                Answer("gzip with a wrong checksum", encoded("gzip", wrongSum), .undecodable),
                Answer("gzip with a wrong length", encoded("gzip", wrongLength), .undecodable),
                Answer("gzip and more", encoded("gzip", gzip + text), .undecodable),
                Answer("gzip of nothing at all", encoded("gzip", Data()), .undecodable),
                Answer(
                    "zlib as gzip", encoded("gzip", text.compressed(Compressed.zlib)), .undecodable),
                Answer(
                    "gzip and a connection that ends early", encoded("gzip", gzip, length: gzip.count + 1),
                    .failed(.connection(.connectionLost))),
                Answer(
                    "a bomb", encoded("gzip", Data(count: 32 << 20).compressed()), .failedSomehow),
                Answer(
                    "an archive", encoded("identity", text, "application/gzip"), .stored),
            ]
        }
    #else
        private static let compressed: [Answer] = []
    #endif

    private static func lines(_ bytes: Int) -> String { String(repeating: "X: 123\n", count: bytes / 8) }

    @Test(arguments: answers)
    func everyAnswerHasItsOutcome(answer: Answer) async throws {
        let server = try HTTPTestServer { _ in .raw(answer.bytes) }
        let outcome = await cache.download(DownloadRequest(server.url())) { $0.attempts = 1 }
        let content = try await cache.cache.read("item")
        switch (answer.outcome, outcome) {
        case (.stored, .stored): #expect(content == Data(Self.body.utf8))
        case (.failed(let reason), .failed(let error)): #expect(error.reason == reason && content == nil)
        case (.failedSomehow, .failed): #expect(content == nil)
        default: Issue.record("\(outcome)")
        }
    }

    // MARK: Addresses

    private func request(_ url: String) throws -> DownloadRequest {
        DownloadRequest(try #require(URL(string: url)))
    }

    @Test(arguments: ["http://[::1]:", "HTTP://[::1]:", "Http://[0:0::1]:"])
    func anIPv6AddressIsReached(prefix: String) async throws {
        let server = try HTTPTestServer(isIPv6: true) { resource.answer(to: $0) }
        let outcome = await cache.download(try request("\(prefix)\(server.port)/file")) { configuration in
            configuration.hosts = ["::1", "0:0::1"]
            configuration.allowsInsecureHTTP = true
        }
        #expect(outcome.isStored)
        #expect(try await cache.holds(content))
    }

    @Test func aRedirectToAnIPv6AddressIsFollowed() async throws {
        let target = try HTTPTestServer(isIPv6: true) { resource.answer(to: $0) }
        let server = try HTTPTestServer { _ in TestAnswer(302, ["Location": "//[::1]:\(target.port)/x"]) }
        let request = DownloadRequest(server.url())
        #expect(await cache.download(request) { $0.hosts = ["127.0.0.1", "::1"] }.isStored)
        guard
            case .redirect(to: "http://[::1]:\(target.port)")? = await cache.download(
                try self.request("http://127.0.0.1:\(server.port)/other")
            ).error?.reason
        else { Issue.record("followed to a host that is not allowed"); return }
    }

    // MARK: Connections

    /// The server closes it after each answer, without saying so.
    @Test func aConnectionThatWasClosedMeanwhileIsReplaced() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0).cut(after: content.count, .drop) }
        let downloader = cache.downloader { $0.attempts = 1 }
        for number in 0..<10 {
            let request = DownloadRequest(server.url("/\(number)"), try ItemKey("item \(number)"))
            #expect(await downloader.prefetch(request).outcome.isStored)
        }
        #expect(server.requests.count == 10)
    }

    /// A field of the request cannot add others to it.
    @Test func aLineBreakInAFieldIsNotSent() async throws {
        let server = try HTTPTestServer { resource.answer(to: $0) }
        let request = DownloadRequest(server.url()).with([
            "X-Mine": "a\r\nX-Injected: b", "X-Empty": "", "X-Text": "caf\u{E9}",
        ])
        #expect(await cache.download(request).isStored)
        let sent = try #require(server.requests.first).headers
        #expect(sent["x-injected"] == nil)
        #expect(sent["x-empty"] == "")
        #expect(sent["x-text"] == "caf\u{E9}")
        #expect(sent["accept-encoding"] == "gzip")
    }
}
