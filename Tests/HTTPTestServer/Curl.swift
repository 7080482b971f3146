internal import Dispatch
internal import FileSystemTestSupport
internal import Foundation

/// The program `curl`, which says what others ask for and store.
public enum Curl {
    public static let program = ["/usr/bin/curl", "/opt/homebrew/bin/curl"]
        .first(where: FileManager.default.isExecutableFile)

    /// Makes requests one after the other, as `curl --globoff --fail --location --compressed` does.
    ///
    /// - Parameters:
    ///   - urls: What `curl` is given, as it is.
    ///   - headers: Those that a request has in addition.
    public static func request(_ urls: [String], headers: (Int) -> [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let fixed = [
            "globoff", "fail", "location", "compressed", "silent", "max-time = 20", #"output = "/dev/null""#,
        ]
        let transfers = urls.enumerated().map { index, url in
            let fields = headers(index).map { "header = \(quoted($0))" }
            return (fixed + ["url = \(quoted(url))"] + fields + [#"write-out = "%{exitcode}\n""#]).joined(
                separator: "\n")
        }
        var count = 0
        while count < urls.count {
            let codes = try run(transfers[count...].joined(separator: "\nnext\n"), in: folder)
            count += codes.count
            // Some errors end the program.
            if count < urls.count, codes.last != outOfMemory { count += 1 }
        }
        try FileManager.default.removeItem(at: folder)
    }

    /// What curl calls a head that is too long.
    private static let outOfMemory = 27

    /// - Returns: How each transfer ended.
    private static func run(_ options: String, in folder: URL) throws -> [Int] {
        let (config, codes) = (folder.appending(path: "config"), folder.appending(path: "codes"))
        try Data(options.utf8).write(to: config)
        try Data().write(to: codes)
        let process = ChildProcess()
        process.executableURL = program.map { URL(filePath: $0) }
        process.arguments = ["--disable", "--config", config.path]
        // It converts the names of hosts from the character set of the environment.
        process.environment = ["LC_ALL": "C.UTF-8"]
        process.standardOutput = try FileHandle(forWritingTo: codes)
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        ended.wait()
        return try String(contentsOf: codes, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
            "\t", with: "\\t")
        return "\"\(escaped)\""
    }
}
