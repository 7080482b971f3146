import Dispatch
import Foundation
import HTTPTestServer
import Testing

/// The tests that need nginx, one after the other: what they watch is a process in the middle of its work.
@Suite(.serialized, .enabled(if: Nginx.program != nil, Nginx.missing))
enum ServerTests {}

/// A real server that serves a folder on loopback, gone when the test lets go of it.
///
/// What lies below `/slow/` is the same folder, at ``slowRate``.
final class Nginx {
    static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first(where: FileManager.default.isExecutableFile)
    static let missing: Comment = "nginx is missing; '.ci/setup --servers' installs it."

    /// Bytes per second, of one connection.
    static let slowRate: Int64 = 20 << 20

    /// A request that has ended.
    struct Entry {
        let status: Int
        let sent: Int64
        let path: String
        /// Where the request's range begins.
        let start: Int64

        init?(_ line: Substring) {
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count == 4, let status = Int(fields[0]), let sent = Int64(fields[1]) else {
                return nil
            }
            self.status = status
            self.sent = sent
            path = fields[2]
            start = Int64(fields[3].drop { !$0.isNumber }.prefix(while: \.isNumber)) ?? 0
        }

        var name: String { path.split(separator: "/").last.map(String.init) ?? "" }
    }

    /// What is served.
    let files: URL
    private let folder: TemporaryFolder
    private let port: UInt16
    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private var isRunning = true

    init() throws {
        folder = try TemporaryFolder()
        files = folder.url.appending(path: "files", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: false)
        // A port that was free a moment ago.
        let placeholder = try HTTPTestServer { _ in TestAnswer() }
        port = placeholder.port
        placeholder.close()
        let configuration = try folder.write(
            Data(Self.configuration(folder.url.path, port).utf8), to: "nginx.conf")
        process.executableURL = URL(filePath: try #require(Self.program))
        process.arguments = ["-p", folder.url.path, "-c", configuration.path, "-e", "stderr"]
        let messages = Pipe()
        process.standardError = messages
        let ended = ended
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        // It says by which means it waits for connections when it listens.
        var text = ""
        while !text.contains("event method") {
            let more = messages.fileHandleForReading.availableData
            try #require(!more.isEmpty, "nginx did not start: \(text)")
            text += String(decoding: more, as: UTF8.self)
        }
        messages.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    deinit {
        stop()
    }

    private static func configuration(_ folder: String, _ port: UInt16) -> String {
        """
        daemon off;
        master_process off;
        pid \(folder)/nginx.pid;
        error_log stderr notice;
        events { worker_connections 256; }
        http {
            log_format plain '$status $body_bytes_sent $uri $http_range-';
            access_log \(folder)/access.log plain;
            client_body_temp_path \(folder)/client;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
            server {
                listen 127.0.0.1:\(port) sndbuf=128k;
                location / { root \(folder)/files; }
                location /slow/ { alias \(folder)/files/; limit_rate \(slowRate); }
            }
        }
        """
    }

    func url(_ name: String, isSlow: Bool = false) -> String {
        "http://127.0.0.1:\(port)/\(isSlow ? "slow/" : "")\(name)"
    }

    /// Ends the server.
    ///
    /// - Returns: The requests in the order of their ends.
    @discardableResult
    func stop() -> [Entry] {
        if isRunning {
            // The threads of tests block all other signals, and their children inherit that. The log is written
            // with every request.
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
        }
        isRunning = false
        do {
            let log = try String(contentsOf: folder.file("access.log"), encoding: .utf8)
            return log.split(separator: "\n").compactMap(Entry.init)
        } catch {
            return []
        }
    }
}
