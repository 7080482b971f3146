package import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// nginx on loopback, which serves the media of a story, and fails where the path of a URL says so:
///
/// * `slow/RATE/NAME`: so many bytes per second.
/// * `silent/COUNT/NAME`: nothing follows after so many bytes of the whole file. A request for the rest is answered.
/// * `broken/COUNT/NAME`: the same, and the connection breaks there.
package struct MediaServer: Sendable {
    private static let inquiry = "requests"

    private let port: Int
    private let folder: URL

    /// Serves while `body` runs.
    ///
    /// - Parameter folder: For the server's own files.
    package static func serving(
        in folder: URL, _ body: (MediaServer) async throws -> Void
    ) async throws {
        let programs = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
            throw StoryError("this needs nginx; '.ci/setup --servers' installs it")
        }
        // Below the ports that systems give to connections.
        let server = MediaServer(port: Int.random(in: 20_000..<32_000), folder: folder)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "files"), withIntermediateDirectories: true)
        let configuration = folder.appending(path: "nginx.conf")
        try Data(server.configuration.utf8).write(to: configuration)

        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["-p", folder.path, "-c", configuration.path, "-e", "stderr"]
        try process.run()
        // Its parent's thread may block all other signals, which it inherits.
        defer { kill(process.processIdentifier, SIGKILL) }
        // It listens before it writes this file, and tells nobody that it has: looking again is all there is.
        while !FileManager.default.fileExists(atPath: folder.appending(path: "nginx.pid").path) {
            guard process.isRunning else { throw StoryError("nginx has not started") }
            try await Task.sleep(for: .milliseconds(10))
        }
        try await body(server)
    }

    /// Serves content from now on. What the server has under this name is replaced.
    ///
    /// - Returns: The URL of the content.
    @discardableResult
    package func publish(_ content: Data, as name: String) throws -> URL {
        let file = folder.appending(path: "files/\(name)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: file)
        return try url(name)
    }

    package func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)/\(path)") else {
            throw StoryError("\(path) is no part of a URL")
        }
        return url
    }

    /// The requests so far for which the path ends with `name`, in the order of their ends: a range each, or `whole`.
    package func requests(for name: String = "") async throws -> [String] {
        // It serves one after the other, and has written down what was before this.
        _ = try await URLSession.shared.data(from: url(Self.inquiry))
        return try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8)
            .split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            .filter { $0[0].hasSuffix(name) && $0[0] != "/\(Self.inquiry)" }.map { $0[1] }
    }

    /// Nothing follows where a rate of 1 has been reached: a byte per second. The proxy cuts off a client that waits for it.
    private var configuration: String {
        let own = folder.path
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
            error_log stderr crit;
            events {}
            http {
                map $http_range $range { "" whole; default $http_range; }
                map $http_range $crawl { "" 1; default 0; }
                log_format plain '$uri $range';
                access_log \(own)/access.log plain;
                log_not_found off;
                default_type application/octet-stream;
                \(temporary)
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
}
