package import Foundation

/// The program around a story: a folder that stands for the container of an app, Ctrl-C, and the exit code.
package enum Demonstration {
    package typealias Story = @Sendable (_ container: URL, _ report: inout Report) async throws -> Void

    /// Tells a story, and ends the process: with 0 when every check passed, and with 1 otherwise.
    package static func run(_ story: @escaping Story) async -> Never {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.allSatisfy({ $0 == "--keep" }) else {
            complain("usage: [--keep]  (leaves the folder behind, to look at it with cachectl)")
            exit(64)
        }
        // `swift run … | head` must not end the program before it has cleaned up.
        signal(SIGPIPE, SIG_IGN)
        // A story takes seconds. The system ends one that hangs.
        alarm(120)
        exit(await exitCode(story, keepsContainer: !arguments.isEmpty))
    }

    private static func exitCode(_ story: @escaping Story, keepsContainer: Bool) async -> Int32 {
        let telling = Task { try await tell(story, keepsContainer: keepsContainer) }
        // By default, these end the process without any cleaning up.
        let signals = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { telling.cancel() }
            source.activate()
            return source
        }
        defer { signals.forEach { $0.cancel() } }
        do {
            let failedChecks = try await telling.value
            guard !telling.isCancelled else { throw CancellationError() }
            if failedChecks > 0 { complain("\(failedChecks) of the claims above are WRONG") }
            return failedChecks == 0 ? 0 : 1
        } catch {
            complain("\(error)")
            return 1
        }
    }

    /// - Returns: The number of failed checks.
    private static func tell(_ story: Story, keepsContainer: Bool) async throws -> Int {
        let container = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "PrefetchCache-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: container, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer {
            if keepsContainer {
                print("\nThe container stays: swift run cachectl stats --container '\(container.path)'")
            } else {
                do { try FileManager.default.removeItem(at: container) } catch { complain("\(error)") }
            }
        }
        var report = Report()
        try await story(container, &report)
        return report.failedChecks
    }

    private static func complain(_ message: String) {
        FileHandle.standardError.write(Data("\(ProcessInfo.processInfo.processName): \(message)\n".utf8))
    }
}
