import Dispatch
import FileSystemTestSupport
import Foundation
import Synchronization

@testable import PrefetchCaching

/// A run of `testprograms`, which lies beside the tests, on a container.
final class StressProcess: Sendable {
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

    init(_ arguments: [String], in container: TemporaryContainer) throws {
        process.executableURL = try BuiltProduct.named("testprograms")
        process.arguments = arguments + ["--container", container.root.path]
        process.standardOutput = output
        process.standardInput = input
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    deinit { if isRunning { kill() } }

    var isRunning: Bool { process.isRunning }
    var number: Int32 { process.processIdentifier }

    /// One that works on a container as it is told: see `Follow`.
    ///
    /// - Parameter time: In milliseconds since 1970.
    static func following(in container: TemporaryContainer, at time: Int64) throws -> StressProcess {
        let process = try StressProcess(["follow", "--time", "\(time)"], in: container)
        guard process.answer() == "ready" else { throw Failure(line: "", answer: "not ready") }
        return process
    }

    /// Has it do something, and returns its answer.
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

    struct Outcome: Sendable {
        let status: Int32
        let wasKilled: Bool
        let output: Data

        func report<Report: Decodable>(as _: Report.Type = Report.self) throws -> Report {
            try JSONDecoder().decode(Report.self, from: output)
        }
    }

    /// Waits for its end.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                // First, since it cannot end while what it prints fills the pipe.
                let output = output.fileHandleForReading.readDataToEndOfFile()
                ended.wait()
                continuation.resume(
                    returning: Outcome(
                        status: process.terminationStatus,
                        wasKilled: process.terminationReason == .uncaughtSignal, output: output))
            }
        }
    }
}
