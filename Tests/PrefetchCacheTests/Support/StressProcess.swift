import Dispatch
import FileSystemTestSupport
import Foundation
import Testing

@testable import PrefetchCaching

/// A run of `testprograms`, which lies beside the tests, on a container.
final class StressProcess: Sendable {
    private let process: ChildProcess
    private let output: Pipe
    private let input: Pipe
    private let ended: DispatchSemaphore

    init(_ arguments: [String], in container: TemporaryContainer) throws {
        process = ChildProcess()
        process.executableURL = try BuiltProduct.named("testprograms")
        process.arguments = arguments + ["--container", container.root.path]
        output = Pipe()
        input = Pipe()
        process.standardOutput = output
        process.standardInput = input
        let ended = DispatchSemaphore(value: 0)
        self.ended = ended
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
    }

    deinit {
        if process.isRunning { kill() }
    }

    /// The first bytes that it prints; returns when there are some.
    func firstOutput() -> String {
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
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
