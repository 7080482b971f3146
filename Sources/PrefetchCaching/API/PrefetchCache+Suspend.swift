internal import Logging

/// Releasing everything while the process is suspended.
extension PrefetchCache {
    /// Releases every lock and database until ``resume(isolation:)``, as ``close()`` does for good. iOS ends an app that is
    /// suspended while it holds a lock in the container of an app group (`0xdead10cc`).
    ///
    /// - Calls in progress are waited for. An item that is being opened is given up, unless its promotion has begun to be
    ///   recorded; its call, like ``migrate(_:dryRun:report:)`` between two files, begins again after ``resume(isolation:)``.
    ///   ``verify(_:progress:)`` returns an incomplete report.
    /// - Calls made from now on wait for ``resume(isolation:)``. If their task is cancelled meanwhile they throw
    ///   ``CacheError/cancelled``. If the cache is closed, or cannot be resumed, they throw ``CacheError/closed`` or the
    ///   error of ``resume(isolation:)``.
    /// - Writers end, and their calls throw ``CacheError/suspended``. Those begun with `keepingPartial` keep their whole
    ///   chunks.
    /// - Pins do not hold, see ``Pin``. Listeners of ``events`` stay.
    /// - Nothing is left to recover if the process is ended meanwhile. Other processes may do with the cache what they like.
    ///
    /// Suspending, resuming and closing happen in the order in which they are called from one actor. Does nothing if the
    /// cache is suspended or closed. Cancelling the task has no effect.
    ///
    /// - Throws: As ``close()``. The cache is suspended nevertheless.
    public func suspend(isolation: isolated (any Actor)? = #isolation) async throws(CacheError) {
        try await engine.suspend(isolation: isolation)
    }

    /// Opens a suspended cache again, as ``init(areas:environment:isRecovering:)`` does, and lets the waiting calls
    /// proceed. Folders that were removed meanwhile are created. Does nothing if the cache is not suspended.
    ///
    /// - Throws: As ``init(areas:)``, and ``CacheError/closed``. The waiting calls and those that follow throw the same,
    ///   until a later `resume()` succeeds.
    public func resume(isolation: isolated (any Actor)? = #isolation) async throws(CacheError) {
        try await engine.resume(isolation: isolation)
    }

    /// Asks the system not to suspend the process before `body` returns. When the time that it grants is up, the cache is
    /// suspended first, as by ``suspend(isolation:)``: what `body` calls then waits for ``resume(isolation:)``, which is the
    /// app's to call when it is back.
    ///
    /// ```swift
    /// let outcome = try await cache.withExpiringActivity(reason: "Storing an episode") {
    ///     try await cache.store(episode, as: metadata)
    /// }
    /// ```
    ///
    /// On iOS, watchOS and visionOS, extensions included, by `ProcessInfo.performExpiringActivity`. Elsewhere no
    /// process is suspended, and `body` simply runs. `reason` says what `body` does, for the system's log.
    public func withExpiringActivity<Value, Failure: Error>(
        reason: String, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let perform = environment.performExpiringActivity else { return try await body() }
        let activity = ExpiringActivity(reason, by: perform) { [engine, environment] in
            do {
                try engine.suspendAndWait()
            } catch {
                environment.logger.warning("Not all was written.", metadata: ["error": "\(error)"])
            }
        }
        defer { activity.end() }
        return try await body()
    }

    /// Waits for a task, which is cancelled when the cache is suspended or closed, at once if it already is.
    ///
    /// - Returns: What the task returns, and whether it was cancelled for that.
    package func whileRunning<Value: Sendable>(
        _ task: Task<Value, Never>
    ) async -> (value: Value, wasStopped: Bool) {
        await engine.whileRunning(task)
    }
}
