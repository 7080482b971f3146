import Foundation
import MediaServer
import Storytelling

/// The server side: shows whose episodes are real files of this machine.
struct Publisher {
    /// Long enough for a download to be interrupted in the middle.
    private static let lengths = (5 << 19)...(7 << 19)
    private static let names = ["Library Hour", "Morning Manual", "Deep Storage"]

    let server: MediaServer
    let made: Int
    private(set) var shows: [Show]
    private var upcoming: [MediaFile]

    /// - Parameter workshop: The folder for generated files.
    init(_ server: MediaServer, workshop: URL) throws {
        self.server = server
        let material = try RealFiles(Self.names.count * 3, lengths: Self.lengths, workshop: workshop)
        made = material.made
        shows = Self.names.map { Show(name: $0, episodes: []) }
        upcoming = material.files.reversed()
        try publishEpisodes()
        try publishEpisodes()
    }

    /// Publishes one more episode of every show.
    mutating func publishEpisodes() throws {
        for index in shows.indices {
            guard let file = upcoming.popLast() else { return }
            let episode = Episode(
                show: shows[index].name, number: shows[index].episodes.count + 1, original: file)
            try server.publish(file.url, at: episode.path)
            shows[index].episodes.append(episode)
        }
    }

    /// An episode that is as long as all others together.
    mutating func publishSpecial(in workshop: URL) throws -> Episode {
        let url = workshop.appending(path: "special.bin")
        var content = Data()
        for episode in shows.flatMap(\.episodes) { content += try Data(contentsOf: episode.original.url) }
        try content.write(to: url)
        let special = Episode(
            show: shows[0].name, number: 100,
            original: MediaFile(url: url, length: Int64(content.count)))
        try server.publish(url, at: special.path)
        return special
    }
}
