internal import Dispatch
internal import FileSystemTestSupport
public import Foundation

/// The program `curl`, which says what others ask for and store.
public enum Curl {
    public static let program = ["/usr/bin/curl", "/opt/homebrew/bin/curl"]
        .first(where: FileManager.default.isExecutableFile)

    /// What became of a transfer.
    public struct Outcome: Sendable {
        /// 0 if there was no error.
        public let code: Int
        /// What was stored.
        public let content: Data
    }

    /// Makes requests one after the other, as `curl --globoff --fail --location --compressed` does.
    ///
    /// - Parameters:
    ///   - urls: What `curl` is given, as it is.
    ///   - headers: Those that a request has in addition.
    ///   - options: As in a file of options, such as `cookie = ""`.
    public static func fetch(
        _ urls: [String], headers: (Int) -> [String] = { _ in [] }, options: [String] = []
    ) throws -> [Outcome] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func file(_ index: Int) -> URL { folder.appending(path: "\(index)") }
        let fixed = ["globoff", "fail", "location", "compressed", "silent", "max-time = 20"] + options
        let transfers = urls.enumerated().map { index, url in
            let own = ["url = \(quoted(url))", "output = \(quoted(file(index).path))"]
            let fields = headers(index).map { "header = \(quoted($0))" }
            return (fixed + own + fields + [#"write-out = "%{exitcode}\n""#]).joined(separator: "\n")
        }
        var codes: [Int] = []
        while codes.count < urls.count {
            codes += try run(transfers[codes.count...].joined(separator: "\nnext\n"), in: folder)
            // Some errors end the program.
            if codes.count < urls.count, codes.last != outOfMemory { codes.append(outOfMemory) }
        }
        let outcomes = codes.enumerated().map { index, code in
            Outcome(code: code, content: FileManager.default.contents(atPath: file(index).path) ?? Data())
        }
        try FileManager.default.removeItem(at: folder)
        return outcomes
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
