internal import Synchronization

/// Lets a thread that waits be told when the task that it works for is cancelled, which Swift tells only to those who
/// ask.
package final class Cancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var handler: (@Sendable () -> Void)?
    }

    /// That of the call which this thread runs.
    @TaskLocal private static var current: Cancellation?

    private let state = Mutex(State())

    /// Runs a call of the user, of which ``ending(by:_:)`` notices the cancellation.
    static func following<Result: Sendable, Failure: Error>(
        _ call: @Sendable () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let cancellation = Cancellation()
        let outcome = await withTaskCancellationHandler {
            await $current.withValue(cancellation) {
                await Swift.Result<Result, Failure>.capturing { () async throws(Failure) in try await call() }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try outcome.get()
    }

    /// Waits on this thread.
    ///
    /// - Parameter end: Ends the wait. Called at most once, on any thread, if the task is cancelled before `wait` has
    ///   returned. Calls do not nest.
    /// - Returns: Whether the task was cancelled.
    package static func ending(by end: @escaping @Sendable () -> Void, _ wait: () -> Void) -> Bool {
        guard let current else {
            wait()
            return false
        }
        let isLate = current.state.withLock { state in
            if !state.isCancelled { state.handler = end }
            return state.isCancelled
        }
        if isLate { end() }
        wait()
        return current.state.withLock { state in
            state.handler = nil
            return state.isCancelled
        }
    }

    private func cancel() {
        let handler = state.withLock { state in
            state.isCancelled = true
            return state.handler
        }
        handler?()
    }
}

extension Result {
    /// The outcome of an asynchronous call.
    fileprivate static func capturing(_ body: () async throws(Failure) -> Success) async -> Result {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
