import Foundation
import Synchronization

/// The files served, the planned failures, and the requests received.
final class Traffic: Sendable {
    private struct State {
        var files: [String: URL] = [:]
        var mishaps: [String: Mishap] = [:]
        var requests: [ServedRequest] = []
    }

    private let state = Mutex(State())

    var requests: [ServedRequest] { state.withLock { $0.requests } }

    func publish(_ file: URL, at path: String) {
        state.withLock { $0.files[path] = file }
    }

    func file(at path: String) -> URL? {
        state.withLock { $0.files[path] }
    }

    func plan(_ mishap: Mishap, at path: String) {
        state.withLock { $0.mishaps[path] = mishap }
    }

    func takeMishap(at path: String) -> Mishap? {
        state.withLock { $0.mishaps.removeValue(forKey: path) }
    }

    /// - Returns: The number of the request.
    func begin(_ path: String, range: String?, status: Int, announced: Int) -> Int {
        state.withLock { state in
            state.requests.append(
                ServedRequest(
                    path: path, range: range, status: status, announced: Int64(announced), sent: 0))
            return state.requests.count - 1
        }
    }

    func note(sent count: Int, of request: Int) {
        state.withLock { $0.requests[request].sent += Int64(count) }
    }
}
