import Foundation
import MediaServer
import Storytelling

/// A podcast, as its server describes it. Newest episode first.
struct Feed: Codable, Sendable {
    let title: String
    let episodes: [Episode]
}

struct Episode: Codable, Sendable {
    let id: String
    let title: String
    let url: URL
    let bytes: Int64
}

extension Feed {
    /// Puts a podcast on the server: episodes of 2 MiB each, and the feed that names them.
    ///
    /// - Returns: The URL of the feed.
    static func publish(_ title: String, episodes: Int, on server: MediaServer, in folder: URL) throws -> URL
    {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var generator = SplitMix64(state: 1)
        let list = try (1...episodes).reversed().map { number in
            // As little compressible as audio is.
            let content = (0..<(2 << 20) / 8).map { _ in generator.next() }.withUnsafeBytes { Data($0) }
            let file = folder.appending(path: "\(number).mp3")
            try content.write(to: file)
            return Episode(
                id: "\(title)/\(number)", title: "\(title) \(number)",
                url: try server.publish(file, at: "\(number).mp3"), bytes: Int64(content.count))
        }
        let file = folder.appending(path: "feed.json")
        try JSONEncoder().encode(Feed(title: title, episodes: list)).write(to: file)
        return try server.publish(file, at: "feed.json")
    }
}
