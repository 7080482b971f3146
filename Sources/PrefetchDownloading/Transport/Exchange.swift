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
        /// The bytes of the body that have arrived since stalls were last looked for.
        var spanBytes = 0
        /// Those of the last whole spans in which only the server was waited for; `nil` before stalls were first looked for.
        var spans: [Int]?
        /// Whether the connection has paused since then.
        var hasPaused = false
        var isBodyWanted = false
        var isPaused = false

        /// Whether the connection is to pause.
        var isFull: Bool { end == nil && bytes.count >= (isBodyWanted ? capacity : initialCapacity) }
    }

    /// Whether the response uses TLS.
    let isSecure: Bool
    /// The name of the file that the URL asks for.
    let name: String?
    private let state = Mutex(State())

    init(_ url: URL?) {
        isSecure = url?.scheme?.lowercased() == "https"
        name = url?.namedFile
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

    /// Whether somebody waits for the server.
    var isAwaited: Bool { state.withLock { $0.reader != nil } }

    var isOver: Bool { state.withLock { $0.end != nil } }

    /// Notes that a span of time is over, and ends the exchange if the server was too slow in the last ones. Only time spent
    /// waiting for the server counts.
    ///
    /// - Parameter isAwaited: Whether another download waits for this one to end. Half the time is for a body only: an
    ///   answer may take long to make.
    func endSpan(_ limit: SpeedLimit, isAwaited: () -> Bool) {
        let (spans, hasHead) = state.withLock { state in
            if let spans = state.spans, !state.isPaused, !state.hasPaused {
                // Otherwise what has arrived is being stored: the bytes count for the next span.
                if state.reader != nil {
                    state.spans = Array((spans + [state.spanBytes]).suffix(SpeedLimit.spans))
                    state.spanBytes = 0
                }
            } else {
                (state.spans, state.spanBytes) = ([], 0)
            }
            state.hasPaused = false
            return (state.spans ?? [], state.head != nil)
        }
        if let time = limit.stall(after: spans, isAwaited: { hasHead && isAwaited() }) { end(.stalled(time)) }
    }

    /// Waits until `answer` returns a result. Cancels the exchange if the task is cancelled.
    private func wait<Value: Sendable>(
        for answer: @escaping @Sendable (inout State) -> Result<Value, DownloadError.Reason>?
    ) async throws(DownloadError.Reason) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<Value, DownloadError.Reason>, Never>) in
                change { state in
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
            state.spanBytes += bytes.count
            if state.end == nil { state.bytes.append(bytes) }
        }
        return state.withLock { state in
            state.isPaused = state.isFull
            if state.isPaused { state.hasPaused = true }
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
