internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sessions, each for one transfer at a time, see `InlineQueue`. One that is idle keeps its connection for the next
/// transfer from the same host.
final class SessionPool: Sendable {
    /// Idle sessions that are kept.
    static let capacity = 8

    fileprivate struct Session: Sendable {
        let session: URLSession
        let delegate: SessionDelegate
        var host: String?
    }

    private let idle = Mutex<[Session]>([])

    deinit {
        for session in idle.withLock({ $0 }) { session.session.finishTasksAndInvalidate() }
    }

    func start(_ request: URLRequest, _ pipe: BodyPipe) -> URLSessionDataTask {
        let host = request.url?.host()
        var session = take(for: host)
        session.host = host
        let task = session.session.dataTask(with: request)
        // The session goes when nobody waits for another transfer any more.
        session.delegate.add(task, pipe) { [weak self, session] in
            guard let self else { return session.session.finishTasksAndInvalidate() }
            putBack(session)
        }
        task.resume()
        return task
    }

    private func take(for host: String?) -> Session {
        let known = idle.withLock { idle -> Session? in
            let index = idle.lastIndex { $0.host == host } ?? idle.indices.last
            return index.map { idle.remove(at: $0) }
        }
        return known ?? Session()
    }

    private func putBack(_ session: Session) {
        let oldest = idle.withLock { idle -> Session? in
            idle.append(session)
            return idle.count > Self.capacity ? idle.removeFirst() : nil
        }
        oldest?.session.finishTasksAndInvalidate()
    }
}

extension SessionPool.Session {
    init() {
        let delegate = SessionDelegate()
        let configuration = URLSessionConfiguration.ephemeral
        // What is stored is stored by the cache, and nothing of a server's is sent back to it.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The downloader looks after servers that say nothing: this clock would run while the disk is waited for.
        configuration.timeoutIntervalForRequest = 86_400
        #if canImport(FoundationNetworking)
            let queue = InlineQueue()
        #else
            let queue = OperationQueue()
        #endif
        queue.maxConcurrentOperationCount = 1
        self.init(
            session: URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue),
            delegate: delegate, host: nil)
    }
}
