import FileSystemTestSupport
import Foundation
import Testing

/// `cachectl` while it runs, line by line.
final class RunningTool {
    private let process = ChildProcess()
    private let output = Pipe()
    private var pending = Data()
    private var hasEnded = false

    init(_ arguments: [String], in container: Container) throws {
        process.executableURL = URL(filePath: try Tool.path)
        process.arguments = arguments + ["--container", container.root.path]
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": container.folder.url.path]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        if !hasEnded { send(SIGKILL) }
    }

    /// Waits for the next event of `fetch --json`; `nil` at the end.
    func nextEvent() throws -> FetchEvent? {
        try nextLine().map { try JSONDecoder().decode(FetchEvent.self, from: $0) }
    }

    /// Waits for the next line; `nil` at the end.
    func nextLine() -> Data? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = pending[..<end]
                pending = Data(pending[pending.index(after: end)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            pending += more
        }
    }

    /// Waits for an event.
    ///
    /// - Returns: Whether it came.
    func wait(for isWanted: (FetchEvent) -> Bool) throws -> Bool {
        while let event = try nextEvent() {
            if isWanted(event) { return true }
        }
        return false
    }

    /// Runs the tool to its end.
    ///
    /// - Returns: The exit code.
    static func run(_ arguments: [String], in container: Container) throws -> Int32 {
        let tool = try RunningTool(arguments, in: container)
        while try tool.nextEvent() != nil {}
        return tool.outcome().status
    }

    func send(_ signal: Int32) {
        _ = kill(process.processIdentifier, signal)
    }

    /// Waits for the end of the process.
    ///
    /// - Returns: The exit code, and the signal where one ended the process.
    func outcome() -> (status: Int32, wasKilled: Bool) {
        if !hasEnded { process.waitUntilExit() }
        hasEnded = true
        return (process.terminationStatus, process.terminationReason == .uncaughtSignal)
    }
}

/// A line of `cachectl fetch --json`.
struct FetchEvent: Decodable {
    let event: String
    let key: String
    let url: String
    let completedBytes: Int64?
    let totalBytes: Int64?
    let outcome: String?
    let keptBytes: Int64?
    let refused: String?
    let message: String?
    let exitCode: Int32?

    static func all(in output: Data) throws -> [FetchEvent] {
        try output.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(FetchEvent.self, from: $0)
        }
    }
}
