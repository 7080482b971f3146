import Foundation
import HTTPTestServer
import PrefetchCaching
import Testing

@testable import PrefetchDownloading

#if canImport(CPrefetchZlib)
    /// Content that the server compresses for the transfer.
    @Suite struct CompressedTransferTests {
        /// Three whole chunks and a bit, of lines that are alike.
        private static let text = Data(
            (0..<60_000).map { "\($0 * 7919 % 60_000): a line of an article, such as feeds have\n" }.joined()
                .utf8)

        private static let resource = {
            var resource = TestResource(text, lastModified: Date(timeIntervalSinceNow: -86_400).inHTTP)
            resource.encoded = ("gzip", text.compressed())
            return resource
        }()

        private let cache: TestCache

        init() async throws { cache = try await TestCache() }

        private static func offers(_ server: HTTPTestServer) -> [String?] {
            server.requests.map { $0.headers["accept-encoding"] }
        }

        // MARK: Downloads

        @Test func itIsDecodedWhileItIsStored() async throws {
            let server = try HTTPTestServer { Self.resource.answer(to: $0) }
            let downloader = cache.downloader()
            let request = DownloadRequest(server.url())
            #expect(await downloader.prefetch(request).outcome.isStored)
            #expect(try await cache.holds(Self.text))
            #expect(Self.offers(server) == ["gzip"])
            let figures = try await cache.cache.history().total
            #expect(figures[.fetchedBytes] == server.bodyBytesSent)
            #expect(figures[.fetchedBytes] * 4 < Self.text.count)
            #expect(figures[.fetchedInVainBytes] == 0)
            // The tag of the encoded response stands for the content.
            #expect(await downloader.prefetch(request).outcome == .notModified)
            #expect(server.requests.last?.headers["if-none-match"] == "W/\"1\"")
        }

        @Test func expectationsApplyToTheContent() async throws {
            let server = try HTTPTestServer { Self.resource.answer(to: $0) }
            let length = Int64(Self.text.count)
            #expect(await cache.download(DownloadRequest(server.url(), "exact", .length(length))).isStored)
            let short = await cache.download(DownloadRequest(server.url(), "short", .length(length + 1)))
            #expect(short.error?.reason == .wrongLength(expected: length + 1, actual: length))
            #expect(server.requests.count == 2)
            let long = await cache.download(DownloadRequest(server.url(), "long", .length(length - 1)))
            guard case .tooLong(_, announced: length - 1)? = long.error?.reason else {
                Issue.record("\(long)")
                return
            }
            let digest = [UInt8](repeating: 1, count: 32)
            let wrong = await cache.download(DownloadRequest(server.url(), "wrong", .sha256(digest)))
            let actual = SHA256.digest(of: Self.text)
            #expect(wrong.error?.reason == .wrongDigest(expected: digest, actual: actual))
        }

        @Test func notWhereItIsUnwanted() async throws {
            let server = try HTTPTestServer { Self.resource.answer(to: $0) }
            var plain = DownloadRequest(server.url(), "plain")
            plain.allowsCompressedTransfer = false
            #expect(await cache.download(plain).isStored)
            _ = await cache.download(DownloadRequest(server.url(), "long", .length(17 << 20)))
            #expect(Self.offers(server) == ["identity", "identity"])
        }

        // MARK: Interruptions

        /// A range of the encoded response would be none of the content, but one of the plain response is.
        @Test func whatWasStoredIsResumedByAPlainRange() async throws {
            let encoded = Self.text.compressed()
            let server = try HTTPTestServer(
                inTurn: { Self.resource.answer(to: $0).cut(after: encoded.count * 9 / 10) },
                { Self.resource.answer(to: $0) })
            let downloader = cache.downloader()
            let download = downloader.prefetch(DownloadRequest(server.url()))
            let resumed = await download.event { if case .resumed = $0 { true } else { false } }
            guard case .resumed(let offset)? = resumed else { Issue.record("it was not resumed"); return }
            #expect(await download.outcome.isStored)
            #expect(try await cache.holds(Self.text))
            #expect(offset > 0 && offset % (1 << 20) == 0)
            #expect(Self.offers(server) == ["gzip", "identity"])
            #expect(server.requests.map(\.rangeStart) == [nil, Int(offset)])
            // What was not stored in complete chunks of the first response, as bytes that were received.
            let wasted = try await cache.cache.history().total[.fetchedInVainBytes]
            #expect((1...Int64(encoded.count / 2)).contains(wasted))
        }

        /// The server has it compressed, and sends it so to all: a range is one of that.
        @Test(arguments: [1, 5, 9])
        func whatIsStoredCompressedStartsOver(tenths: Int) async throws {
            let encoded = Self.text.compressed()
            let answer: HTTPTestServer.Handler = {
                TestResource(encoded).answer(to: $0).with(["Content-Encoding": "gzip"])
            }
            let server = try HTTPTestServer(
                inTurn: { answer($0).cut(after: encoded.count * tenths / 10) }, answer)
            #expect(await cache.download(DownloadRequest(server.url())).isStored)
            #expect(try await cache.holds(Self.text))
        }

        /// Nothing of it can be kept: what is plain is at least received once more only.
        @Test func whatCannotBeKeptIsRequestedPlain() async throws {
            let encoded = Self.text.compressed()
            let server = try HTTPTestServer { request in
                var resource = Self.resource
                (resource.entityTag, resource.lastModified) = (nil, nil)
                let answer = resource.answer(to: request)
                return answer.headers["Content-Encoding"] == nil
                    ? answer : answer.cut(after: encoded.count - 9)
            }
            let downloader = cache.downloader()
            #expect(await downloader.prefetch(DownloadRequest(server.url())).outcome.isStored)
            #expect(try await cache.holds(Self.text))
            #expect(Self.offers(server) == ["gzip", "identity"])
            let wasted = try await cache.cache.history().total[.fetchedInVainBytes]
            #expect(wasted >= Int64(encoded.count) - 100)
        }

        @Test func whatIsDamagedIsRequestedPlain() async throws {
            var damaged = Self.resource
            damaged.encoded?.body[5000] ^= 1
            let server = try HTTPTestServer { [damaged] in damaged.answer(to: $0) }
            #expect(await cache.download(DownloadRequest(server.url())).isStored)
            #expect(try await cache.holds(Self.text))
            #expect(Self.offers(server) == ["gzip", "identity"])
        }

        // MARK: Bombs

        /// 1 GiB of zeros compresses to a megabyte. They are content as any other where they come as they are.
        @Test func whatExpandsTooFarIsRequestedPlain() async throws {
            // A thousand members of a mebibyte each.
            let member = Data(count: 1 << 20).compressed()
            let bomb = Data((0..<1024).map { _ in member }.joined())
            var resource = TestResource(Data(count: 3 << 20))
            resource.encoded = ("gzip", bomb)
            let server = try HTTPTestServer { [resource] in resource.answer(to: $0) }
            let downloader = cache.downloader()
            let download = downloader.prefetch(DownloadRequest(server.url()))
            var failures: [DownloadError.Reason] = []
            for await case .retrying(_, let error) in download.events { failures.append(error.reason) }
            guard case .expandsTooFar(let received, let length)? = failures.first, failures.count == 1 else {
                Issue.record("\(failures)")
                return
            }
            #expect(received <= bomb.count && length > received * 200)
            // It ends as soon as there is a reason, in the middle of what was received.
            #expect(length < 600 << 20)
            #expect(try await cache.holds(resource.content))
        }

        // MARK: Decoding

        private static let short = Data("content that is repeated: content, content, and content".utf8)

        /// Decodes a body that arrives in pieces.
        private static func decode(
            _ body: Data, in pieces: Int
        ) async throws -> (content: Data, received: Int) {
            var rest = body[...]
            let decoder = DecodedBody {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(pieces) }
                return Data(rest.prefix(pieces))
            }
            var (content, received) = (Data(), 0)
            while let piece = try await decoder.next() {
                content += piece.content
                received += piece.receivedBytes
            }
            return (content, received)
        }

        @Test(arguments: [1, 2, 3, 7, 100_000, 10_000_000])
        func piecesOfAnyLengthAreDecoded(length: Int) async throws {
            let text = length < 100 ? Self.short : Self.text
            let members = Self.short.compressed() + Data().compressed() + text.compressed()
            let (content, received) = try await Self.decode(members, in: length)
            #expect(content == Self.short + text && received == members.count)
        }

        /// As much as is decoded at once, one byte less and more, and twice as much.
        @Test(arguments: [-1, 0, 1, 1 << 18])
        func contentThatFillsAPieceIsDecoded(more: Int) async throws {
            let text = Self.text.prefix((1 << 18) + more)
            let body = Data(text).compressed()
            #expect(try await Self.decode(body, in: body.count).content == text)
        }

        @Test func anEarlyEndIsNoticedAtEveryByte() async throws {
            let body = Self.short.compressed()
            for length in 0..<body.count {
                await #expect(throws: DownloadError.Reason.undecodable) {
                    try await Self.decode(body.prefix(length), in: 5)
                }
            }
        }

        @Test func noFlippedBitChangesTheContent() async throws {
            let body = Self.short.compressed()
            for bit in 0..<body.count * 8 {
                var flipped = body
                flipped[bit / 8] ^= 1 << (bit % 8)
                do {
                    #expect(try await Self.decode(flipped, in: 16).content == Self.short)
                } catch {
                    #expect(error as? DownloadError.Reason == .undecodable)
                }
            }
        }

        @Test func whatFollowsTheEndIsNoContent() async throws {
            await #expect(throws: DownloadError.Reason.undecodable) {
                try await Self.decode(Self.short.compressed() + Data("more".utf8), in: 1000)
            }
        }
    }
#endif
