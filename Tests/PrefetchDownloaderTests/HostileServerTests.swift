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
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: Data
        let outcome: Outcome

        static func all(_ answers: [(String, String)], _ outcome: Outcome) -> [Answer] {
            answers.map { Answer(testDescription: $0, bytes: HostileServerTests.bytes($1), outcome: outcome) }
        }
    }

    private static let body = "content"
    private static let ok = "HTTP/1.1 200 OK\n"
    private static let rest = "Content-Length: 7\n\ncontent"
    private static let whole = ok + rest
    private static let chunked = ok + "Transfer-Encoding: chunked\n"
    private static let interim = "HTTP/1.1 102 P\n\n"

    private static func bytes(_ text: String) -> Data { Data(text.replacing("\n", with: "\r\n").utf8) }

    private static let stored = [
        ("as usual", whole),
        // Framing.
        ("chunks", chunked + "\n3\ncon\n4\ntent\n0\n\n"),
        ("a trailer field", chunked + "Trailer: X\n\n7\ncontent\n0\nX: 1\n\n"),
        ("a trailer that contradicts", chunked + "\n7\ncontent\n0\nContent-Length: 3\nETag: \"2\"\n\n"),
        ("chunks and a length", chunked + "Content-Length: 3\n\n7\ncontent\n0\n\n"),
        ("chunks with extensions", chunked + "\n7;a=\"b\"\ncontent\n0;c\n\n"),
        ("more than announced", whole + " and more"), ("one length twice", ok + "Content-Length: 7\n" + rest),
        ("HTTP/1.0", "HTTP/1.0 200 OK\n" + rest),
        // Interim responses.
        ("100 Continue", "HTTP/1.1 100 Continue\n\n" + whole),
        ("102 Processing", "HTTP/1.1 102 Processing\nDate: x\n\n" + whole),
        ("103 Early Hints", "HTTP/1.1 103 Early Hints\nLink: </a>\nContent-Length: 3\n\n" + whole),
        ("three interim responses", String(repeating: interim, count: 3) + whole),
        // Fields.
        ("UTF-8", ok + "Content-Disposition: attachment; filename=\"café.mp3\"\n" + rest),
        ("a continued field", ok + "X: a\n b\n\tc\n" + rest), ("a field without a name", ok + ": x\n" + rest),
        ("no reason", "HTTP/1.1 200\n" + rest), ("cookies", ok + "Set-Cookie: a=b; Path=/\n" + rest),
    ]

    private static let malformed =
        [
            ("trailers without end", chunked + "\n7\ncontent\n0\n" + lines(400_000) + "\n"),
            ("chunks and no length", chunked + "Content-Length: x\n\n7\ncontent\n0\n\n"),
            ("two lengths", ok + "Content-Length: 8\n" + rest),
            ("interim responses without end", String(repeating: interim, count: 30_000)),
            ("a field without a colon", ok + "nonsense\n" + rest),
            ("fields without end", ok + lines(2_000_000) + "\n"),
        ]
        + ["7, 8", "-7", "+7", "0x7", "7 bytes", "9223372036854775808", "99999999999999999999999999"].map {
            ("a length of \($0)", ok + "Content-Length: \($0)\n\ncontent")
        }

    private static let failedSomehow = [
        ("a chunk without a length", chunked + "\nxyz\ncontent\n0\n\n"),
        ("a chunk that is too long", chunked + "\nFFFFFFFFFFFFFFFFF\ncontent\n0\n\n"),
        ("chunks that end early", chunked + "\n7\ncontent\n"),
        ("the longest length", ok + "Content-Length: 9223372036854775807\n\ncontent"),
        ("no HTTP", "content"), ("half a head", "HTTP/1.1 200 OK\nContent-"),
        ("101 Switching Protocols", "HTTP/1.1 101 S\nUpgrade: h2c\nConnection: Upgrade\n\n"),
        ("a NUL in a field", ok + "X: a\0b\n" + rest),
        ("a field without end", ok + "X: " + String(repeating: "x", count: 2_000_000)),
        ("a status of four digits", "HTTP/1.1 2000 X\n" + rest),
        ("a status of no digits", "HTTP/1.1 abc X\n" + rest),
    ]

    private static let failed: [(String, String, DownloadError.Reason)] =
        [
            (
                "a length that ends early", ok + "Content-Length: 9\n\ncontent",
                .truncated(received: 7, announced: 9)
            ),
            ("no length", ok + "\ncontent", .undelimitedBody), ("nothing", "", .connection(.connectionLost)),
            (
                "a date of the server's clock",
                "HTTP/1.1 503 X\nDate: Sun, 06 Nov 1994 08:49:37 GMT\n"
                    + "Retry-After: Sun, 06 Nov 1994 09:49:37 GMT\nContent-Length: 0\n\n",
                .status(503, retryAfter: .seconds(3600))
            ),
            (
                "a transfer coding of its own", ok + "Transfer-Encoding: gzip, chunked\n\n7\ncontent\n0\n\n",
                .encoded("gzip, chunked")
            ),
        ]
        + [(201, rest), (203, rest), (204, "\n"), (299, rest), (300, rest), (999, "Content-Length: 0\n\n")]
        .map { ("\($0)", "HTTP/1.1 \($0) X\n\($1)", .status($0, retryAfter: nil)) }
        + [(401, "WWW-Authenticate: Digest realm=\"x\", nonce=\"y\""), (407, "Proxy-Authenticate: Basic")].map
    {
        ("\($0)", "HTTP/1.1 \($0) X\n\($1)\nContent-Length: 0\n\n", .status($0, retryAfter: nil))
    }

    private static let text = Data(body.utf8)

    static let answers =
        Answer.all(stored, .stored) + Answer.all(malformed, .malformed)
        + Answer.all(failedSomehow, .failedSomehow)
        + failed.flatMap { Answer.all([($0, $1)], .failed($2)) }
        + [
            Answer(
                testDescription: "an encoding twice", bytes: encoded("gzip, gzip", text),
                outcome: .failed(.encoded("gzip, gzip"))),
            Answer(
                testDescription: "an archive that is declared as encoded",
                bytes: encoded("gzip", text, "application/x-gzip"), outcome: .stored),
            Answer(testDescription: "line feeds alone", bytes: Data(whole.utf8), outcome: .stored),
            Answer(
                testDescription: "Latin-1",
                bytes: Data("HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"caf".utf8) + [
                    0xE9
                ]
                    + bytes(".mp3\"\n" + rest), outcome: .stored),
        ] + compressed

    /// - Parameter length: What is announced, if that is not the length of the body.
    private static func encoded(
        _ name: String, _ body: Data, _ type: String = "text/plain", length: Int? = nil
    ) -> Data {
        bytes(
            ok
                + "Content-Encoding: \(name)\nContent-Type: \(type)\nContent-Length: \(length ?? body.count)\n\n"
        )
            + body
    }

    #if canImport(CPrefetchZlib)
        private static var compressed: [Answer] {
            let gzip = text.compressed()
            let members = text.prefix(3).compressed() + Data(text.dropFirst(3)).compressed()
            let chunks = chunked + "Content-Encoding: gzip\n\n\(String(gzip.count, radix: 16))\n"
            let sent: [(String, Data, Outcome)] = [
                ("gzip in two members", encoded("gzip", members), .stored),
                ("gzip in chunks", bytes(chunks) + gzip + bytes("\n0\n\n"), .stored),
                (
                    "gzip and a connection that ends early", encoded("gzip", gzip, length: gzip.count + 1),
                    .failed(.connection(.connectionLost))
                ),
                ("a bomb", encoded("gzip", Data(count: 32 << 20).compressed()), .failedSomehow),
                ("gzip that ends early", encoded("gzip", gzip.dropLast(3)), .failed(.undecodable)),
                ("gzip that is none", encoded("gzip", text), .failed(.undecodable)),
                ("gzip of nothing at all", encoded("gzip", Data()), .failed(.undecodable)),
                ("zlib as gzip", encoded("gzip", text.compressed(Compressed.zlib)), .failed(.undecodable)),
            ]
            return sent.map { Answer(testDescription: $0, bytes: $1, outcome: $2) }
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
