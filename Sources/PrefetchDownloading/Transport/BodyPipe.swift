internal import Dispatch
internal import Foundation
internal import Synchronization

/// A bounded pipe for one response, from the thread that reads the network to the task that stores the body.
///
/// The thread blocks while the pipe holds ``capacity`` bytes or more, and until the first byte is requested.
final class BodyPipe: Sendable {
    /// The maximum number of buffered bytes, not counting one network read.
    static let capacity = 2 << 20

    private struct State {
        var head: ResponseHead?
        var isWanted = false
        var bytes = Data()
        var end: Result<Void, TransferFailure>?
        var isCancelled = false
        var reader: CheckedContinuation<Void, Never>?
        var isWriterWaiting = false
    }

    private let state = Mutex(State())
    private let room = DispatchSemaphore(value: 0)

    // MARK: Network thread

    func receive(_ head: ResponseHead) {
        change { state in
            if state.head == nil { state.head = head }
        }
    }

    /// Blocks until the pipe has room.
    func receive(_ bytes: Data) {
        while true {
            let isDone = change { state in
                if state.isCancelled { return true }
                state.isWriterWaiting = !state.isWanted || state.bytes.count >= Self.capacity
                guard !state.isWriterWaiting else { return false }
                state.bytes.append(bytes)
                return true
            }
            if isDone { return }
            room.wait()
        }
    }

    /// Whether ``receive(_:)-(Data)`` would block now.
    var isFull: Bool {
        state.withLock { !$0.isCancelled && (!$0.isWanted || $0.bytes.count >= Self.capacity) }
    }

    func finish(_ end: Result<Void, TransferFailure>) {
        change { state in
            if state.end == nil { state.end = end }
        }
    }

    // MARK: Storing task

    func head() async throws(TransferFailure) -> ResponseHead {
        while true {
            let answer = state.withLock { state -> Result<ResponseHead, TransferFailure>? in
                if state.isCancelled { return .failure(.cancelled) }
                if let head = state.head { return .success(head) }
                return state.end.map { end in
                    switch end {
                    case .success: .failure(.malformed)
                    case .failure(let failure): .failure(failure)
                    }
                }
            }
            if let answer { return try answer.get() }
            await change()
        }
    }

    /// - Returns: The bytes that have arrived since the last call, or `nil` after the last byte.
    func next() async throws(TransferFailure) -> Data? {
        while true {
            let (answer, isWriterWaiting) = state.withLock {
                state -> (Result<Data?, TransferFailure>?, Bool) in
                if state.isCancelled { return (.failure(.cancelled), false) }
                state.isWanted = true
                defer { state.isWriterWaiting = false }
                if state.bytes.isEmpty {
                    return (state.end.map { $0.map { nil } }, state.isWriterWaiting)
                }
                defer { state.bytes = Data() }
                return (.success(state.bytes), state.isWriterWaiting)
            }
            if isWriterWaiting { room.signal() }
            if let answer { return try answer.get() }
            await change()
        }
    }

    /// - Returns: Whether there is a transfer to cancel: the response is incomplete and not yet cancelled.
    func cancel() -> Bool {
        let (isNeeded, isWriterWaiting) = change { state in
            defer {
                state.isCancelled = true
                state.isWriterWaiting = false
                state.bytes = Data()
            }
            return (!state.isCancelled && state.end == nil, state.isWriterWaiting)
        }
        if isWriterWaiting { room.signal() }
        return isNeeded
    }

    /// Changes the state and wakes the reader.
    @discardableResult
    private func change<Result>(_ body: (inout sending State) -> sending Result) -> sending Result {
        var reader: CheckedContinuation<Void, Never>?
        let result = state.withLock { state in
            reader = state.reader
            state.reader = nil
            return body(&state)
        }
        reader?.resume()
        return result
    }

    /// Waits for the next change, unless the reader can already proceed.
    private func change() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.isCancelled || state.end != nil || !state.bytes.isEmpty
                    || (state.head != nil && !state.isWanted)
                {
                    return true
                }
                state.reader = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
