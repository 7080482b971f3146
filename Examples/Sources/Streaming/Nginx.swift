import Foundation
import Storytelling

/// A real web server on loopback, which serves a folder at a limited rate.
final class Nginx {
    private static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first(where: FileManager.default.isExecutableFile)
    private static let port = 18_083

    private let process = Process()

    /// - Parameters:
    ///   - folder: For the server's own files.
    ///   - rate: Bytes per second, for each connection.
    init(serving files: URL, in folder: URL, rate: Int) throws {
        guard let program = Self.program else {
            throw StoryError("this needs nginx; '.ci/setup --servers' installs it")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let own = folder.path(percentEncoded: false)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(own)/\($0);" }.joined(separator: " ")
        let configuration = """
            daemon off;
            master_process off;
            pid \(own)/nginx.pid;
            events {}
            http {
                access_log off;
                \(temporary)
                server {
                    listen 127.0.0.1:\(Self.port);
                    location / { root \(files.path(percentEncoded: false)); limit_rate \(rate); }
                }
            }
            """
        let file = folder.appending(path: "nginx.conf")
        try Data(configuration.utf8).write(to: file)
        process.executableURL = URL(filePath: program)
        process.arguments = ["-p", own, "-c", file.path(percentEncoded: false), "-e", "stderr"]
        try process.run()
    }

    deinit {
        // Its parent's thread may block all other signals, which it inherits.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func url(of name: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(Self.port)/\(name)") else {
            throw StoryError("\(name) does not belong in a URL")
        }
        return url
    }
}

struct StoryError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
