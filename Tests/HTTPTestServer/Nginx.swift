internal import Dispatch
internal import FileSystemTestSupport
public import Foundation

/// A real server that serves a folder on loopback, gone when nobody holds it any more.
///
/// What lies below `/slow/` is the same folder, at ``slowRate``, and below `/text/` as text that it compresses.
public final class Nginx {
    public struct Failure: Error {
        let message: String
    }

    public static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first(where: FileManager.default.isExecutableFile)

    public static let openSSL = ["/usr/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first(where: FileManager.default.isExecutableFile)

    /// What to trust to reach a secure one: its certificate.
    public var authorities: String { folder.appending(path: "certificate.pem").path }

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
        /// Such as `HTTP/2.0`.
        public let version: String
        /// The number of its connection.
        public let connection: String

        init?(_ line: Substring) {
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count == 6, let status = Int(fields[0]), let sent = Int64(fields[1]) else {
                return nil
            }
            self.status = status
            self.sent = sent
            path = fields[2]
            start = Int64(fields[3].drop { !$0.isNumber }.prefix(while: \.isNumber)) ?? 0
            version = fields[4]
            connection = fields[5]
        }

        public var name: String { path.split(separator: "/").last.map(String.init) ?? "" }
    }

    /// What is served.
    public let files: URL
    private let folder: URL
    private let isSecure: Bool
    private let port: ReservedPort
    private let process = ChildProcess()
    private let ended = DispatchSemaphore(value: 0)
    private var isRunning = true

    /// - Parameter isSecure: Whether it is reached by `https` alone, over HTTP/2 or 1.1.
    public init(isSecure: Bool = false) throws {
        guard let program = Self.program else { throw Failure(message: "nginx is missing") }
        self.isSecure = isSecure
        folder = FileManager.default.temporaryDirectory.appending(
            path: "nginx-\(UUID().uuidString)", directoryHint: .isDirectory)
        files = folder.appending(path: "files", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        if isSecure { try Self.makeCertificate(in: folder) }
        port = try ReservedPort()
        let configuration = folder.appending(path: "nginx.conf")
        try Data(Self.configuration(folder.path, port.number, isSecure: isSecure).utf8).write(
            to: configuration)
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

    /// Makes a key, and a certificate for 127.0.0.1 that nobody trusts.
    private static func makeCertificate(in folder: URL) throws {
        guard let openSSL else { throw Failure(message: "openssl is missing") }
        let process = ChildProcess()
        process.executableURL = URL(filePath: openSSL)
        process.currentDirectoryURL = folder
        process.standardError = FileHandle.nullDevice
        process.arguments =
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=Test -days 1 -keyout key.pem"
            .components(separatedBy: " ") + [
                "-out", "certificate.pem", "-addext", "subjectAltName=IP:127.0.0.1",
            ]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(message: "no certificate could be made") }
    }

    private static func configuration(_ folder: String, _ port: UInt16, isSecure: Bool) -> String {
        let secure =
            isSecure ? "ssl http2; ssl_certificate certificate.pem; ssl_certificate_key key.pem;" : ";"
        return """
            daemon off;
            master_process off;
            pid \(folder)/nginx.pid;
            error_log stderr notice;
            events { worker_connections 256; }
            http {
                log_format plain '$status $body_bytes_sent $uri $http_range- $server_protocol $connection';
                access_log \(folder)/access.log plain;
                client_body_temp_path \(folder)/client;
                proxy_temp_path \(folder)/proxy;
                fastcgi_temp_path \(folder)/fastcgi;
                uwsgi_temp_path \(folder)/uwsgi;
                scgi_temp_path \(folder)/scgi;
                server {
                    listen 127.0.0.1:\(port) sndbuf=128k \(secure)
                    location / { root \(folder)/files; }
                    location /text/ { alias \(folder)/files/; default_type text/html; gzip on; }
                    location /slow/ { alias \(folder)/files/; limit_rate \(slowRate); }
                }
            }
            """
    }

    public func url(_ name: String, isSlow: Bool = false) -> String {
        "\(isSecure ? "https" : "http")://127.0.0.1:\(port.number)/\(isSlow ? "slow/" : "")\(name)"
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
