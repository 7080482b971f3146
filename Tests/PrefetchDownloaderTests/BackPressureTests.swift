import Foundation
import HTTPTestServer
import Testing

@testable import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server that is faster than the disk.
@Suite struct BackPressureTests {
    /// 64 MiB, which is more than sockets and the reader of the network hold.
    private static let length = 64 << 20
    private static let inFlight: Int64 = 16 << 20

    private func start() throws -> (HTTPTestServer, Exchange) {
        let server = try HTTPTestServer { _ in TestAnswer(200, body: Data(count: Self.length)) }
        return (server, DownloaderEnvironment().transport.start(URLRequest(url: server.url())))
    }

    @Test func littleIsReadBeforeSomebodyAsks() async throws {
        let (server, exchange) = try start()
        #expect(try await exchange.head().contentLength == Int64(Self.length))
        await server.heldUp()
        #expect(server.bodyBytesSent < Self.inFlight)
        exchange.cancel()
    }

    @Test func aServerIsHeldUpWhileNobodyAsks() async throws {
        let (server, exchange) = try start()
        _ = try await exchange.head()
        var received = try #require(try await exchange.next()).count
        await server.heldUp()
        #expect(server.bodyBytesSent - Int64(received) < Self.inFlight)
        while let piece = try await exchange.next() {
            received += piece.count
            // One reading of the network may come on top of what waits.
            #expect(piece.count <= Exchange.capacity + (1 << 20))
        }
        #expect(received == Self.length)
        #expect(server.bodyBytesSent == Int64(Self.length))
    }

    @Test func whoIsHeldUpCanBeCancelled() async throws {
        let (server, exchange) = try start()
        _ = try await exchange.head()
        await server.heldUp()
        exchange.cancel()
        await #expect(throws: DownloadError.Reason.connection(.cancelled)) { _ = try await exchange.next() }
    }
}
