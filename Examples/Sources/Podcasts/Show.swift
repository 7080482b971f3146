import Foundation
import MediaServer
import PrefetchCache
import PrefetchDownloader

/// A podcast, as its feed describes it.
struct Show: Sendable {
    let name: String
    /// The oldest first.
    var episodes: [Episode]

    /// What is worth fetching ahead: the newest episodes.
    func newest(_ count: Int) -> ArraySlice<Episode> { episodes.suffix(count) }
}

/// One episode, as an item of the feed describes it.
struct Episode: Sendable {
    let show: String
    let number: Int
    /// The file that the server has.
    let original: MediaFile

    var title: String { "\(show) \(number)" }
    var length: Int64 { original.length }

    /// The path on the server. A feed would give the whole URL.
    var path: String { "\(show)/\(number)".lowercased().replacing(" ", with: "-") }

    /// The name that the cache knows it by. It lasts: where the episode is served may change, what it is does not.
    func key() throws -> ItemKey { try ItemKey(path) }

    /// What is to be fetched, and where it goes when the user opens it.
    func request(from server: MediaServer) throws -> DownloadRequest {
        DownloadRequest(
            server.url(of: path), key: try key(), source: show,
            // The show's name comes from elsewhere: only what makes a good file name is taken of it.
            destination: .documents(
                FileName(sanitizing: "\(title).\(original.url.pathExtension)"),
                in: try FolderPath([FileName(sanitizing: show)])),
            // The length is in the feed (`enclosure`, in RSS). A digest would be better still.
            expecting: .length(length))
    }
}
