import Dispatch
import Foundation
import Synchronization

/// Runs a closure on a thread of its own, where it may block.
final class BackgroundThread: Sendable {
    private let outcome = Mutex<Result<Void, any Error>?>(nil)
    private let end = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread {
            let result = Result(catching: body)
            self.outcome.withLock { $0 = result }
            self.end.signal()
        }
    }

    var isRunning: Bool { outcome.withLock { $0 == nil } }

    /// Waits for the closure to end and throws its error. Call it once.
    func join() throws {
        end.wait()
        try outcome.withLock { $0 }?.get()
    }
}
