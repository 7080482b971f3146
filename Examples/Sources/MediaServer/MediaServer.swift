package import Foundation
import Storytelling
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// nginx on loopback, which serves the media of a story, and fails where it is told to.
package final class MediaServer: Sendable {
    private static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first(where: FileManager.default.isExecutableFile)

    private let port: Int
    private let folder: URL
    private let mishaps = Mutex<[String: Mishap]>([:])

    private var files: URL { folder.appending(path: "files") }
    private var log: URL { folder.appending(path: "access.log") }

    private init(in folder: URL, port: Int) throws {
        self.port = port
        self.folder = folder
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    }

    /// Serves while `body` runs.
    ///
    /// - Parameter folder: For the server's own files.
    package static func serving<Result>(
        in folder: URL, _ body: (MediaServer) async throws -> Result
    ) async throws -> Result {
        guard let program else {
            throw StoryError("this needs nginx; '.ci/setup --servers' installs it")
        }
        // Below the ports that systems give to connections.
        let server = try MediaServer(in: folder, port: Int.random(in: 20_000..<32_000))
        let process = Process()
        process.executableURL = URL(filePath: program)
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        process.terminationHandler = { _ in end.finish() }
        let result: Swift.Result<Result, any Error>
        do {
            try await server.run(process)
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        if process.isRunning {
            // Its parent's thread may block all other signals, which it inherits.
            kill(process.processIdentifier, SIGKILL)
            for await _ in ends {}
        }
        return try result.get()
    }

    /// Starts nginx, and waits until it listens.
    private func run(_ process: Process) async throws {
        let file = folder.appending(path: "nginx.conf")
        try Data(configuration.utf8).write(to: file)
        process.arguments = ["-p", path(folder), "-c", path(file), "-e", "stderr"]
        let messages = Pipe()
        process.standardError = messages
        let (texts, writer) = AsyncStream.makeStream(of: String.self)
        messages.fileHandleForReading.readabilityHandler = { file in
            let text = file.availableData
            if text.isEmpty {
                file.readabilityHandler = nil
                writer.finish()
            } else {
                writer.yield(String(decoding: text, as: UTF8.self))
            }
        }
        try process.run()
        var said = ""
        for await text in texts {
            said += text
            // It listens before it says by which means it waits for connections.
            if said.contains("event method") { return }
        }
        throw StoryError("nginx has not started: \(said)")
    }

    /// Nothing follows where a rate of 1 has been reached: a byte per second. The proxy cuts off a client that waits for it.
    private var configuration: String {
        let own = path(folder)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(own)/\($0);" }.joined(separator: " ")
        let silent = """
            location ~ ^/silent/(?<after>[0-9]+)/(?<name>.*)$ {
                alias \(own)/files/$name;
                limit_rate_after $after;
                limit_rate $crawl;
            }
            """
        return """
            daemon off;
            master_process off;
            pid \(own)/nginx.pid;
            error_log stderr notice;
            events {}
            http {
                log_format plain '$status $body_bytes_sent $sent_http_content_length $uri $http_range';
                access_log \(own)/access.log plain;
                default_type application/octet-stream;
                \(temporary)
                map $http_range $crawl { "" 1; default 0; }
                server {
                    listen 127.0.0.1:\(port) sndbuf=128k;
                    location / { root \(own)/files; }
                    location ~ ^/slow/(?<rate>[0-9]+)/(?<name>.*)$ {
                        alias \(own)/files/$name;
                        limit_rate $rate;
                    }
                    \(silent)
                    location ~ ^/broken/(?<rest>.*)$ {
                        proxy_pass http://127.0.0.1:\(port + 1)/silent/$rest;
                        proxy_buffering off;
                        proxy_read_timeout 200ms;
                    }
                }
                server {
                    listen 127.0.0.1:\(port + 1);
                    access_log off;
                    \(silent)
                }
            }
            """
    }

    /// Serves a file under a path, such as `daily/episode-1`, from now on.
    ///
    /// - Returns: The URL of the file.
    @discardableResult
    package func publish(_ file: URL, at path: String) throws -> URL {
        let link = files.appending(path: path)
        try FileManager.default.createDirectory(
            at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        return url(of: path)
    }

    package func url(of path: String) -> URL {
        var components = URLComponents()
        components.scheme = "http"
        components.host = "127.0.0.1"
        components.port = port
        components.path = "/\(mishaps.withLock { $0[path] }?.location ?? "")\(path)"
        guard let url = components.url else { preconditionFailure("A host and a path make a URL.") }
        return url
    }

    /// Makes answers with a file fail from now on, and gives it another URL.
    package func impair(_ path: String, _ mishap: Mishap) {
        mishaps.withLock { $0[path] = mishap }
    }

    /// The requests for a file so far, in the order of their ends.
    package func requests(for path: String) async throws -> [ServedRequest] {
        try await requests().filter { $0.path == path }
    }

    /// All requests so far, in the order of their ends.
    package func requests() async throws -> [ServedRequest] {
        // It serves one after the other, and has written down what was before this.
        _ = try await URLSession.shared.data(from: url(of: ServedRequest.inquiry))
        return try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
            .compactMap(ServedRequest.init).filter { $0.path != ServedRequest.inquiry }
    }

    private func path(_ url: URL) -> String { url.path(percentEncoded: false) }
}

/// What is wrong with the answers for a file.
package enum Mishap: Sendable {
    /// The connection of an answer with the whole file breaks after this many bytes.
    case breakOff(after: Int)
    /// Nothing follows after this many bytes of an answer with the whole file.
    case holdBack(after: Int)
    /// All answers are slow.
    case slow(bytesPerSecond: Int)

    fileprivate static let locations: Set<Substring> = ["broken", "silent", "slow"]

    fileprivate var location: String {
        switch self {
        case .breakOff(let count): "broken/\(count)/"
        case .holdBack(let count): "silent/\(count)/"
        case .slow(let rate): "slow/\(rate)/"
        }
    }
}

/// A request that has ended, as the server saw it.
package struct ServedRequest: Sendable {
    fileprivate static let inquiry = "requests"

    /// Of the file, as it was published.
    package let path: String
    /// The `Range` header.
    package let range: String?
    /// 200 for a whole file, 206 for a part, 304 when nothing has changed.
    package let status: Int
    /// Bytes of the body that were announced.
    package let announced: Int64
    /// Bytes of the body that the operating system has accepted, including those on their way.
    package let sent: Int64

    /// - Parameter line: Of the server's log.
    fileprivate init?(_ line: Substring) {
        let fields = line.split(separator: " ").map(String.init)
        guard fields.count == 5, let status = Int(fields[0]), let sent = Int64(fields[1]) else { return nil }
        self.status = status
        self.sent = sent
        announced = Int64(fields[2]) ?? 0
        let parts = fields[3].split(separator: "/")
        path = parts.dropFirst(Mishap.locations.contains(parts.first ?? "") ? 2 : 0).joined(separator: "/")
        range = fields[4] == "-" ? nil : fields[4]
    }
}
