import FlyingFox
import FlyingSocks
import Foundation
import PrefetchCaching
import Storytelling

/// Serves items to players of this machine: with ranges, and while they are being downloaded.
struct PlaybackServer: HTTPHandler {
    let cache: PrefetchCache

    /// Serves while `body` runs.
    ///
    /// - Parameter body: Receives the URL under which an item is served.
    static func serving<Result: Sendable>(
        _ cache: PrefetchCache, _ body: (_ url: (ItemKey) -> String) async throws -> Result
    ) async throws -> Result {
        // On loopback: other machines cannot reach it. Port 0: the system chooses a free one.
        let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: 0)
        let server = HTTPServer(
            address: address, logger: .disabled, handler: PlaybackServer(cache: cache))
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port)? = await server.listeningAddress else {
            throw StoryError("the server found no port on 127.0.0.1")
        }
        return try await body { "http://127.0.0.1:\(port)/\($0.string)" }
    }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (reader, length): (ContentReader, Int64)
        do {
            reader = cache.reader(for: try ItemKey(String(request.path.dropFirst())))
            // Waits until the origin has announced it.
            length = try await reader.length()
        } catch is ItemKeyError {
            return HTTPResponse(statusCode: .notFound)
        } catch CacheError.notArriving {
            return HTTPResponse(statusCode: .notFound)
        }
        var headers: HTTPHeaders = [.acceptRanges: "bytes"]
        var range = 0..<length
        var status = HTTPStatusCode.ok
        if let wanted = request.headers[.range] {
            guard let found = Self.range(wanted, of: length) else {
                headers[.contentRange] = "bytes */\(length)"
                return HTTPResponse(
                    statusCode: HTTPStatusCode(416, phrase: "Range Not Satisfiable"), headers: headers)
            }
            (range, status) = (found, .partialContent)
            headers[.contentRange] = "bytes \(found.lowerBound)-\(found.upperBound - 1)/\(length)"
        }
        let body = HTTPBodySequence(from: ArrivingBody(reader: reader, range: range), count: range.count)
        return HTTPResponse(statusCode: status, headers: headers, body: body)
    }

    /// Parses a header such as `bytes=100-199`, `bytes=100-` or `bytes=-100`.
    private static func range(_ header: String, of length: Int64) -> Range<Int64>? {
        let parts = header.split(separator: "=")
        guard parts.count == 2, parts[0] == "bytes" else { return nil }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        guard ends.count == 2 else { return nil }
        switch (ends[0], ends[1]) {
        case (let first?, let last) where first < length && first <= last ?? first:
            return first..<min(last.map { $0 + 1 } ?? length, length)
        case (nil, let count?) where count > 0: return max(0, length - count)..<length
        default: return nil
        }
    }
}

/// The part of an item that a player asked for. What has not arrived yet is sent when it arrives.
private struct ArrivingBody: AsyncBufferedSequence {
    typealias Element = UInt8

    let reader: ContentReader
    let range: Range<Int64>

    func makeAsyncIterator() -> Iterator { Iterator(reader: reader, range: range) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate let reader: ContentReader
        fileprivate var range: Range<Int64>

        fileprivate init(reader: ContentReader, range: Range<Int64>) {
            (self.reader, self.range) = (reader, range)
        }

        mutating func next() async throws -> UInt8? {
            try await nextBuffer(suggested: 1)?.first
        }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            guard !range.isEmpty else { return nil }
            let piece = try await reader.read(from: range.lowerBound, upTo: Swift.min(count, range.count))
            range = range.lowerBound + Int64(piece.count)..<range.upperBound
            return piece
        }
    }
}
