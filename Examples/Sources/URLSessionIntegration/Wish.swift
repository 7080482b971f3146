import Foundation
import PrefetchCaching
import PrefetchDownloading

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The item that a download is to become, with everything that the cache has to know about it.
///
/// It travels as the task's `taskDescription`. A background session outlives the app: when a download is done, the app
/// may have been launched for that alone, and knows only the task.
struct Wish: Codable, Sendable {
    let key: String
    let source: String
    /// The name of the file in Documents, once the user opens it.
    let name: String
}

extension Wish {
    /// - Returns: `nil` for a task of another origin.
    init?(_ task: URLSessionTask) throws {
        guard let description = task.taskDescription else { return nil }
        self = try JSONDecoder().decode(Wish.self, from: Data(description.utf8))
    }

    func describe(_ task: URLSessionTask) throws {
        task.taskDescription = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
    }

    func request(_ url: URL) throws -> DownloadRequest {
        DownloadRequest(
            url, key: try ItemKey(key), source: source, destination: .documents(FileName(sanitizing: name)))
    }
}
