internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// HTTP by `URLSession`.
final class SessionTransport: Transport {
    private let sessions = SessionPool()

    func start(_ request: URLRequest) -> any Exchange {
        let pipe = BodyPipe()
        return SessionExchange(sessions.start(request, pipe), pipe)
    }
}

/// A task of a session, and the pipe that its answer comes through.
private final class SessionExchange: Exchange {
    private let task: URLSessionDataTask
    private let pipe: BodyPipe

    init(_ task: URLSessionDataTask, _ pipe: BodyPipe) {
        self.task = task
        self.pipe = pipe
    }

    deinit {
        cancel()
    }

    func head() async throws(TransferFailure) -> ResponseHead {
        try await untilCancelled { () async throws(TransferFailure) in try await pipe.head() }
    }

    func next() async throws(TransferFailure) -> Data? {
        try await untilCancelled { () async throws(TransferFailure) in try await pipe.next() }
    }

    /// Runs a wait that ends when the task is cancelled.
    private func untilCancelled<Value: Sendable>(
        _ body: () async throws(TransferFailure) -> Value
    ) async throws(TransferFailure) -> Value {
        let result = await withTaskCancellationHandler {
            do throws(TransferFailure) {
                return Result<Value, TransferFailure>.success(try await body())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    func cancel() {
        guard pipe.cancel() else { return }
        // It waits for the session's queue, which must not happen on a cooperative thread.
        DispatchQueue.global().async { [task] in task.cancel() }
    }
}
