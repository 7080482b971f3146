import Foundation
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
    /// Puts a podcast on the server: episodes of 2 MiB each, and the feed that names them. The connection breaks in the
    /// middle of episode 3.
    ///
    /// - Returns: The URL of the feed.
    static func publish(_ title: String, episodes: Int, on server: MediaServer) throws -> URL {
        var generator = SplitMix64(state: 1)
        let list = try (1...episodes).reversed().map { number in
            let content = generator.media(2 << 20)
            let name = "\(number).mp3"
            var url = try server.publish(content, as: name)
            if number == 3 { url = try server.url("broken/\(3 << 19)/\(name)") }
            return Episode(
                id: "\(title)/\(number)", title: "\(title) \(number)", url: url, bytes: Int64(content.count))
        }
        return try server.publish(
            JSONEncoder().encode(Feed(title: title, episodes: list)), as: "feed.json")
    }
}
