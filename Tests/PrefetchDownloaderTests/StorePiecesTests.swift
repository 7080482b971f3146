import Foundation
import Testing

@testable import PrefetchCaching
@testable import PrefetchDownloading

/// Content that comes piece by piece over a transport of the caller's.
@Suite struct StorePiecesTests {
    private let cache: TestCache

    init() async throws { cache = try await TestCache() }

    private struct Broken: Error, Equatable {}

    private let content = noise(5_500_000)
    private var digest: [UInt8] { SHA256.digest(of: content) }

    private func metadata(_ tag: String? = "\"1\"") -> ItemMetadata {
        ItemMetadata(key: "item", validator: Validator(entityTag: tag))
    }

    /// The content from an offset on, in pieces of 400 kB.
    ///
    /// - Parameter end: Where it breaks off; `nil` for nowhere.
    private func pieces(of content: Data, from offset: Int64, brokenAt end: Int? = nil)
        -> AsyncThrowingStream<Data, any Error>
    {
        AsyncThrowingStream { continuation in
            var rest = content[Int(offset)..<(end ?? content.count)]
            while !rest.isEmpty {
                continuation.yield(rest.prefix(400_000))
                rest = rest.dropFirst(400_000)
            }
            continuation.finish(throwing: end == nil ? nil : Broken())
        }
    }

    /// Stores until the transport breaks after 2.5 MB.
    private func interrupt(_ cache: TestCache, _ metadata: ItemMetadata, sha256: [UInt8]? = nil) async throws
    {
        await #expect(throws: Broken()) {
            try await cache.cache.store(as: metadata, sha256: sha256, keepingPartial: true) {
                pieces(of: content, from: $0, brokenAt: 2_500_000)
            }
        }
        #expect(try await cache.keptBytes() == 2 << 20)
    }

    @Test func anEmptyPieceAtTheEndIsNoContent() async throws {
        let outcome = try await cache.cache.store(as: metadata(), expectedLength: Int64(content.count)) { _ in
            AsyncThrowingStream { continuation in
                for piece in [content, Data(), Data()] { continuation.yield(piece) }
                continuation.finish()
            }
        }
        guard case .stored = outcome else { Issue.record("\(outcome)"); return }
        #expect(try await cache.holds(content))
    }

    @Test func theContentIsStored() async throws {
        var received: [Int64] = []
        let outcome = try await cache.cache.store(
            as: metadata(), expectedLength: Int64(content.count), sha256: digest,
            progress: { received.append($0.completedBytes) }
        ) { offset in
            #expect(offset == 0)
            return pieces(of: content, from: offset)
        }
        guard case .stored(let summary) = outcome else { Issue.record("\(outcome)"); return }
        #expect(summary.contentBytes == 5_500_000)
        #expect(received.count == 14 && received.last == 5_500_000)
        #expect(try await cache.holds(content))
    }

    @Test(arguments: [true, false])
    func anInterruptedContentContinues(withDigest: Bool) async throws {
        // Without a validator, only the digest tells that it is the same version.
        let metadata = metadata(withDigest ? nil : "\"1\"")
        try await interrupt(cache, metadata, sha256: withDigest ? digest : nil)
        var offsets: [Int64] = []
        try await cache.cache.store(
            as: metadata, sha256: withDigest ? digest : nil, keepingPartial: true
        ) { offset in
            offsets.append(offset)
            return pieces(of: content, from: offset)
        }
        #expect(offsets == [2 << 20])
        #expect(try await cache.holds(content))
    }

    @Test(arguments: ["\"2\"", nil])
    func anotherVersionBeginsAgain(tag: String?) async throws {
        try await interrupt(cache, metadata())
        let other = noise(3_000_000, seed: 2)
        try await cache.cache.store(as: metadata(tag), keepingPartial: true) { offset in
            #expect(offset == 0)
            return pieces(of: other, from: offset)
        }
        #expect(try await cache.holds(other))
        #expect(try await cache.keptBytes() == 0)
    }

    @Test func anotherContentIsNotStored() async throws {
        let other = noise(5_500_000, seed: 2)
        await #expect(throws: DownloadError.Reason.self) {
            try await cache.cache.store(as: metadata(), sha256: digest, keepingPartial: true) {
                pieces(of: other, from: $0)
            }
        }
        await #expect(throws: DownloadError.Reason.tooLong(received: 5_500_000, announced: 5_499_999)) {
            try await cache.cache.store(as: metadata(), expectedLength: 5_499_999, keepingPartial: true) {
                pieces(of: content, from: $0)
            }
        }
        #expect(try await !cache.cache.contains("item"))
        #expect(try await cache.keptBytes() == 0)
    }

    @Test func aContentThatEndsEarlyIsContinued() async throws {
        let length = Int64(content.count)
        await #expect(throws: DownloadError.Reason.truncated(received: 2_500_000, announced: length)) {
            try await cache.cache.store(as: metadata(), expectedLength: length, keepingPartial: true) {
                pieces(of: content.prefix(2_500_000), from: $0)
            }
        }
        try await cache.cache.store(as: metadata(), expectedLength: length, keepingPartial: true) { offset in
            #expect(offset == 2 << 20)
            return pieces(of: content, from: offset)
        }
        #expect(try await cache.holds(content))
    }

    /// The beginning is of one version and the rest of another.
    @Test func whatIsContinuedWithOtherContentIsNotStored() async throws {
        try await interrupt(cache, metadata(), sha256: digest)
        let other = noise(5_500_000, seed: 2)
        await #expect(throws: DownloadError.Reason.self) {
            try await cache.cache.store(as: metadata(), sha256: digest, keepingPartial: true) { offset in
                #expect(offset == 2 << 20)
                return pieces(of: other, from: offset)
            }
        }
        #expect(try await !cache.cache.contains("item"))
        #expect(try await cache.keptBytes() == 0)
    }

    @Test func aRefusalComesBeforeTheFirstPiece() async throws {
        let cache = try await TestCache(budget: .mebibytes(2))
        let outcome = try await cache.cache.store(as: metadata(), expectedLength: 5_500_000) { offset in
            Issue.record("asked for content")
            return pieces(of: content, from: offset)
        }
        guard case .refused = outcome else { Issue.record("\(outcome)"); return }
    }

    @Test func aCancelledTaskStoresNothing() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await cache.cache.store(as: metadata(), keepingPartial: true) { _ in
                ask.finish()
                return stream
            }
        }
        for await _ in asked {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        continuation.finish()
        #expect(try await !cache.cache.contains("item"))
    }
}
