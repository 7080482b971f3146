import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of the app's session. It is stateless: everything that it needs comes with the task.
final class DownloadDelegate: NSObject, URLSessionDownloadDelegate {
    /// What a task, or a background session, has come to.
    enum Arrival: Sendable, Equatable {
        /// The file is in the inbox.
        case file(key: String)
        case failed(key: String, reason: String)
        /// A background session has reported everything that happened while the app was not running.
        case caughtUp
    }

    /// In order. They come from the session's own thread, which must not wait for the cache.
    let arrivals: AsyncStream<Arrival>
    private let continuation: AsyncStream<Arrival>.Continuation
    private let inbox: Inbox

    init(inbox: Inbox) {
        self.inbox = inbox
        (arrivals, continuation) = AsyncStream.makeStream()
    }

    /// Takes the file, which is gone when this returns; it is stored later.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        report(on: downloadTask) { wish in
            // A "not found" page is downloaded as well, and need not wait to be refused.
            guard let response = downloadTask.response as? HTTPURLResponse, response.statusCode < 300,
                let note = Inbox.Note(wish, downloadTask.originalRequest?.url, response)
            else {
                let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
                return .failed(key: wish.key, reason: "the server answered \(status)")
            }
            try inbox.take(location, note)
            return .file(key: wish.key)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let error else { return }
        report(on: task) { .failed(key: $0.key, reason: error.localizedDescription) }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        continuation.finish()
    }

    #if canImport(Darwin)
        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            continuation.yield(.caughtUp)
        }
    #endif

    private func report(on task: URLSessionTask, _ arrival: (Wish) throws -> Arrival) {
        do {
            if let wish = try Wish(task) { continuation.yield(try arrival(wish)) }
        } catch {
            continuation.yield(.failed(key: task.taskDescription ?? "?", reason: "\(error)"))
        }
    }
}
