import FlyingFox
import FlyingSocks
package import Foundation

/// A server for the media of a story: serves files on loopback, with entity tags and ranges, and fails on demand.
package final class MediaServer: Sendable {
    private let port: UInt16
    private let traffic: Traffic

    private init(port: UInt16, traffic: Traffic) {
        self.port = port
        self.traffic = traffic
    }

    /// Serves while `body` runs.
    package static func serving<Result: Sendable>(
        _ body: (MediaServer) async throws -> Result
    ) async throws -> Result {
        let traffic = Traffic()
        // Port 0: the system chooses a free one.
        let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: 0)
        let server = HTTPServer(address: address, logger: .disabled, handler: MediaHandler(traffic: traffic))
        let running = Task { try await server.run() }
        // Its open connections end with it, including those that hold bytes back.
        defer { running.cancel() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port)? = await server.listeningAddress else { throw MediaServerError() }
        return try await body(MediaServer(port: port, traffic: traffic))
    }

    /// Serves a file under a path, such as `daily/episode-1`, from now on.
    ///
    /// - Returns: The URL of the file.
    @discardableResult
    package func publish(_ file: URL, at path: String) -> URL {
        traffic.publish(file, at: "/\(path)")
        return url(of: path)
    }

    package func url(of path: String) -> URL {
        var components = URLComponents()
        components.scheme = "http"
        components.host = "127.0.0.1"
        components.port = Int(port)
        components.path = "/\(path)"
        guard let url = components.url else { preconditionFailure("A host and a path make a URL.") }
        return url
    }

    /// Makes the next answer that carries a file fail.
    package func next(_ path: String, _ mishap: Mishap) {
        traffic.plan(mishap, at: "/\(path)")
    }

    /// The requests for a file so far, in the order of their arrival.
    package func requests(for path: String) -> [ServedRequest] {
        traffic.requests.filter { $0.path == "/\(path)" }
    }

    /// All requests so far.
    package var requests: [ServedRequest] { traffic.requests }
}

/// A failure of one answer.
package enum Mishap: Sendable {
    /// The connection breaks after this many bytes.
    case breakOff(after: Int)
    /// Nothing follows after this many bytes.
    case holdBack(after: Int)

    var limit: Int {
        switch self {
        case .breakOff(let count), .holdBack(let count): count
        }
    }
}

/// A request as the server saw it.
package struct ServedRequest: Sendable {
    package let path: String
    /// The `Range` header.
    package let range: String?
    /// 200 for a whole file, 206 for a part, 304 when nothing has changed.
    package internal(set) var status: Int
    /// Bytes of the body that were announced.
    package internal(set) var announced: Int64
    /// Bytes of the body that the operating system has accepted, including those on their way.
    package internal(set) var sent: Int64
}

private struct MediaServerError: Error, CustomStringConvertible {
    let description = "the server found no port on 127.0.0.1"
}
