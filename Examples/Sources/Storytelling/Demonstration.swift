package import Foundation

/// The program around a story that takes no arguments: a container, Ctrl-C, and the exit code.
package enum Demonstration {
    /// The limit for a story, which normally takes seconds.
    private static let patience = Duration.seconds(120)

    /// Tells a story, and ends the process: with 0 when every check passed, and with 1 otherwise.
    package static func run(
        named name: String, _ story: @escaping @Sendable (_ container: URL) async throws -> Report
    ) async -> Never {
        // `swift run … | head` must not end the program before it has cleaned up.
        signal(SIGPIPE, SIG_IGN)
        exit(await exitCode(name, story).number)
    }

    private static func exitCode(
        _ name: String, _ story: @escaping @Sendable (URL) async throws -> Report
    ) async -> ExitCode {
        guard CommandLine.arguments.count == 1 else {
            StandardError.write("Usage: swift run --package-path Examples \(name)\n")
            return .wrongUsage
        }
        let watchdog = Task {
            // A limit, not a wait for something to happen: it is cancelled when the story is over.
            try await Task.sleep(for: patience)
            // A story that hangs cannot be asked to clean up.
            StandardError.write("\(name): what was to come next has not come in \(patience)\n")
            exit(ExitCode.failure.number)
        }
        defer { watchdog.cancel() }
        do {
            let report = try await Interruption.cancelling {
                try await Workspace.with(named: name, story)
            }
            guard report.failedChecks > 0 else { return .success }
            StandardError.write("\(name): \(report.failedChecks) of the claims above are WRONG\n")
            return .failure
        } catch let error as Interruption {
            StandardError.write("\(name): interrupted\n")
            return .interrupted(signalNumber: error.signalNumber)
        } catch {
            StandardError.write("\(name): \(error)\n")
            return .failure
        }
    }
}
