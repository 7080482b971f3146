import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of the app's session. It is stateless: everything that it needs comes with the task.
final class DownloadDelegate: NSObject, URLSessionDownloadDelegate {
    /// The outcome of a task.
    enum Arrival: Sendable {
        /// The file is in the inbox.
        case file(key: String)
        case failed(key: String, reason: String)
        /// A background session has reported everything that happened while the app was not running.
        case caughtUp
    }

    /// The outcomes, in order. They come from the session's own thread, which must not wait for the cache.
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
        do {
            guard let wish = try Wish(downloadTask) else { return }
            // A "not found" page is downloaded as well, and need not wait to be refused.
            guard let response = downloadTask.response as? HTTPURLResponse, response.statusCode < 300,
                let note = Inbox.Note(wish, downloadTask.originalRequest?.url, response)
            else {
                let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
                return report(.failed(key: wish.key, reason: "the server answered \(status)"))
            }
            try inbox.take(location, note)
            report(.file(key: wish.key))
        } catch {
            report(.failed(key: downloadTask.taskDescription ?? "?", reason: "\(error)"))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let error else { return }
        do {
            guard let wish = try Wish(task) else { return }
            report(.failed(key: wish.key, reason: error.localizedDescription))
        } catch {
            report(.failed(key: task.taskDescription ?? "?", reason: "\(error)"))
        }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        continuation.finish()
    }

    #if canImport(Darwin)
        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            report(.caughtUp)
        }
    #endif

    private func report(_ arrival: Arrival) {
        continuation.yield(arrival)
    }
}
