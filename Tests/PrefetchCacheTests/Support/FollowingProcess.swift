import Dispatch
import FileSystemTestSupport
import Foundation
import Synchronization
import Testing

@testable import PrefetchCaching

/// A run of `testprograms follow`: a process that works on a container as it is told, and can be killed.
final class FollowingProcess: Sendable {
    private let process = ChildProcess()
    private let output = Pipe()
    private let input = Pipe()
    private let ended = DispatchSemaphore(value: 0)
    /// What it has printed beyond the last whole line.
    private let rest = Mutex(Data())

    struct Failure: Error {
        let line: String
        let answer: String
    }

    /// - Parameter time: In milliseconds since 1970.
    init(in container: TemporaryContainer, at time: Int64) throws {
        process.executableURL = try BuiltProduct.named("testprograms")
        process.arguments = ["follow", "--container", container.root.path, "--time", "\(time)"]
        process.standardOutput = output
        process.standardInput = input
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
        guard answer() == "ready" else { throw Failure(line: "", answer: "not ready") }
    }

    deinit {
        if process.isRunning { kill() }
    }

    /// Has it do something, and returns its answer: see `Follow` for both.
    @discardableResult
    func tell(_ line: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        let answer = answer()
        guard !answer.hasPrefix("failed"), !answer.isEmpty else { throw Failure(line: line, answer: answer) }
        return answer
    }

    private func answer() -> String {
        rest.withLock { rest in
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { rest = Data(rest[rest.index(after: end)...]) }
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                let more = output.fileHandleForReading.availableData
                // It has died.
                guard !more.isEmpty else { return "" }
                rest += more
            }
        }
    }

    /// Ends it as `kill -9` does, and returns when it is gone.
    func kill() {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        ended.wait()
    }

    /// Has it close the cache, and returns when it is gone.
    func end() throws {
        try input.fileHandleForWriting.close()
        ended.wait()
    }
}
