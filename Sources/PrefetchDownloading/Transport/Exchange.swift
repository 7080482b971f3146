internal import Foundation
internal import Synchronization

/// A request in progress and its response: a bounded pipe from the connection to the task that stores the body, with stall
/// detection.
///
/// Applies back-pressure: the connection pauses while the pipe holds ``capacity`` bytes or more or, before the body is first
/// requested, ``initialCapacity``. While it pauses, only the operating system reads ahead, and the server is throttled.
///
/// Must be read to its end or cancelled: until then the connection and the stall detection keep it alive.
final class Exchange: Sendable {
    /// The maximum number of buffered bytes, not counting one network read.
    static let capacity = 2 << 20
    /// The same before the body is first requested, when a small one has already arrived whole.
    static let initialCapacity = 16 << 10

    private struct State: Sendable {
        var feed: (any Feed)?
        var head: ResponseHead?
        var bytes = Data()
        var end: Result<Void, DownloadError.Reason>?
        /// Answers the call that is waiting for the server, or returns `false` if it must wait on.
        var reader: (@Sendable (inout State) -> Bool)?
        /// The number of waits for the server so far.
        var waits = 0
        /// How many there had been when stalls were last looked for.
        var seenWaits = 0
        var isBodyWanted = false
        var isPaused = false

        /// Whether the connection is to pause.
        var isFull: Bool { end == nil && bytes.count >= (isBodyWanted ? capacity : initialCapacity) }
    }

    /// Whether the response uses TLS.
    let isSecure: Bool
    private let state = Mutex(State())

    init(isSecure: Bool) {
        self.isSecure = isSecure
    }

    // MARK: Storing task

    /// Waits for the head of the response.
    func head() async throws(DownloadError.Reason) -> ResponseHead {
        try await wait { state in
            if let head = state.head { return .success(head) }
            return state.end.map { $0.flatMap { .failure(.connection(.malformed)) } }
        }
    }

    /// Returns the bytes of the body that have arrived since the last call, or `nil` after the last byte.
    ///
    /// - Throws: Why the body ends early; ``TransferFailure/cancelled`` after ``cancel()``.
    func next() async throws(DownloadError.Reason) -> Data? {
        try await wait { state in
            state.isBodyWanted = true
            if state.bytes.isEmpty { return state.end.map { $0.map { nil } } }
            defer { state.bytes = Data() }
            return .success(state.bytes)
        }
    }

    /// Waits for the end of a response without a body, so that its connection can be reused.
    func drain() async {
        do {
            if try await next() == nil { return }
        } catch {
            // The head was all that mattered.
        }
        cancel()
    }

    /// Ends the exchange. Does nothing if it is over.
    func cancel() { end(.connection(.cancelled)) }

    var isOver: Bool { state.withLock { $0.end != nil } }

    /// Ends the exchange if it has been waiting for the server since the last call, a time of `timeout` ago. So a stall is
    /// detected after one to two times the timeout, and only time spent waiting for the server counts.
    func endIfStalled(after timeout: Duration) {
        let isStalled = state.withLock { state in
            defer { state.seenWaits = state.waits }
            return state.reader != nil && state.waits == state.seenWaits
        }
        if isStalled { end(.stalled(timeout)) }
    }

    /// Waits until `answer` returns a result. Cancels the exchange if the task is cancelled.
    private func wait<Value: Sendable>(
        for answer: @escaping @Sendable (inout State) -> Result<Value, DownloadError.Reason>?
    ) async throws(DownloadError.Reason) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<Value, DownloadError.Reason>, Never>) in
                change { state in
                    state.waits += 1
                    state.reader = { state in
                        guard let result = answer(&state) else { return false }
                        continuation.resume(returning: result)
                        return true
                    }
                }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    private func end(_ reason: DownloadError.Reason) {
        let feed = change { state in
            guard state.end == nil else { return nil as (any Feed)? }
            state.end = .failure(reason)
            state.head = nil
            state.bytes = Data()
            return state.feed
        }
        feed?.cancel()
    }

    // MARK: Connection

    func begin(_ feed: any Feed) {
        let isOver = state.withLock { state in
            state.feed = feed
            return state.end != nil
        }
        if isOver { feed.cancel() }
    }

    func receive(_ head: ResponseHead) {
        change { state in
            if state.head == nil, state.end == nil { state.head = head }
        }
    }

    /// Takes a piece of the body.
    ///
    /// - Returns: Whether the connection is to go on at once; otherwise when ``Feed/proceed()`` is called.
    func receive(_ bytes: Data) -> Bool {
        change { state in
            if state.end == nil { state.bytes.append(bytes) }
        }
        return state.withLock { state in
            state.isPaused = state.isFull
            return !state.isPaused
        }
    }

    func finish(_ end: Result<Void, DownloadError.Reason>) {
        change { state in
            if state.end == nil { state.end = end }
        }
    }

    /// Changes the state, answers the waiting call if that is now possible, and lets the connection go on if there is room
    /// again.
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, paused) = state.withLock { state in
            let value = body(&state)
            if let reader = state.reader, reader(&state) { state.reader = nil }
            guard state.isPaused, !state.isFull else { return (value, nil as (any Feed)?) }
            state.isPaused = false
            return (value, state.end == nil ? state.feed : nil)
        }
        paused?.proceed()
        return value
    }
}
