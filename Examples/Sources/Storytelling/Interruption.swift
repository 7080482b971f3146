import Foundation
import Synchronization

/// A request by the user or the system to end the program.
package struct Interruption: Error {
    package let signalNumber: Int32

    /// Runs `body` in a task that Ctrl-C cancels, so that it can clean up.
    ///
    /// - Throws: The error of `body`, or an ``Interruption`` when a signal was the reason.
    package static func cancelling<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await body() }
        let received = Received()
        let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            // By default, a signal ends the process without any cleaning up.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                received.number.withLock { $0 = number }
                task.cancel()
            }
            source.activate()
            return source
        }
        defer { sources.forEach { $0.cancel() } }
        do {
            return try await task.value
        } catch {
            guard let number = received.number.withLock({ $0 }) else { throw error }
            throw Interruption(signalNumber: number)
        }
    }

    private final class Received: Sendable {
        let number = Mutex<Int32?>(nil)
    }
}
