import Foundation
import MediaServer
import PrefetchCaching
import PrefetchDownloading

/// A podcast, as its feed describes it.
struct Show: Sendable {
    let name: String
    /// Oldest first.
    var episodes: [Episode]

    /// The episodes worth fetching ahead: the newest ones.
    func newest(_ count: Int) -> ArraySlice<Episode> { episodes.suffix(count) }
}

/// One episode, as an item of the feed describes it.
struct Episode: Sendable {
    let show: String
    let number: Int
    /// The file on the server.
    let original: MediaFile

    var title: String { "\(show) \(number)" }
    var length: Int64 { original.length }

    /// The path on the server. A feed would give the whole URL.
    var path: String { "\(show)/\(number)".lowercased().replacing(" ", with: "-") }

    /// The name of the episode in the cache. It is permanent: the place of the episode on the server may change.
    func key() throws -> ItemKey { try ItemKey(path) }

    /// The request for the episode, with its destination when the user opens it.
    func request(from server: MediaServer) throws -> DownloadRequest {
        DownloadRequest(
            server.url(of: path), key: try key(), source: show,
            // The show's name comes from elsewhere, so it is sanitised.
            destination: .documents(
                FileName(sanitizing: "\(title).\(original.url.pathExtension)"),
                in: try FolderPath([FileName(sanitizing: show)])),
            // The length is in the feed (`enclosure`, in RSS). A digest would be better still.
            expecting: [.length(length)])
    }
}
