internal import Dispatch
internal import FileSystemTestSupport
public import Foundation

/// A real server that serves a folder on loopback, gone when nobody holds it any more.
///
/// What lies below `/slow/` is the same folder, at ``slowRate``.
public final class Nginx {
    public struct Failure: Error {
        let message: String
    }

    public static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first(where: FileManager.default.isExecutableFile)

    /// Bytes per second, of one connection.
    public static let slowRate: Int64 = 20 << 20

    /// A request that has ended.
    public struct Entry: Sendable {
        public let status: Int
        /// Bytes of the body.
        public let sent: Int64
        public let path: String
        /// Where the request's range begins.
        public let start: Int64

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

        public var name: String { path.split(separator: "/").last.map(String.init) ?? "" }
    }

    /// What is served.
    public let files: URL
    private let folder: URL
    private let port: ReservedPort
    private let process = ChildProcess()
    private let ended = DispatchSemaphore(value: 0)
    private var isRunning = true

    public init() throws {
        guard let program = Self.program else { throw Failure(message: "nginx is missing") }
        folder = FileManager.default.temporaryDirectory.appending(
            path: "nginx-\(UUID().uuidString)", directoryHint: .isDirectory)
        files = folder.appending(path: "files", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        port = try ReservedPort()
        let configuration = folder.appending(path: "nginx.conf")
        try Data(Self.configuration(folder.path, port.number).utf8).write(to: configuration)
        process.executableURL = URL(filePath: program)
        process.arguments = ["-p", folder.path, "-c", configuration.path, "-e", "stderr"]
        let messages = Pipe()
        process.standardError = messages
        let ended = ended
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        // It says by which means it waits for connections when it listens.
        var text = ""
        while !text.contains("event method") {
            let more = messages.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Failure(message: "nginx did not start: \(text)") }
            text += String(decoding: more, as: UTF8.self)
        }
        messages.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    deinit {
        stop()
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("left behind: \(folder.path) (\(error))")
        }
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

    public func url(_ name: String, isSlow: Bool = false) -> String {
        "http://127.0.0.1:\(port.number)/\(isSlow ? "slow/" : "")\(name)"
    }

    /// The requests so far, in the order of their ends. The log is written with every request.
    public var entries: [Entry] {
        do {
            let log = try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8)
            return log.split(separator: "\n").compactMap(Entry.init)
        } catch {
            return []
        }
    }

    /// Ends the server.
    ///
    /// - Returns: All requests.
    @discardableResult
    public func stop() -> [Entry] {
        if isRunning {
            // The threads of tests block all other signals, and their children inherit that.
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
        }
        isRunning = false
        return entries
    }
}
