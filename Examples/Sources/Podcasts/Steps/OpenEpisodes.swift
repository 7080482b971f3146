import Foundation
import MediaServer
import PrefetchCaching
import Storytelling

/// Opens two episodes, which become the user's files.
struct OpenEpisodes {
    let player: Player
    let publisher: Publisher

    func run(_ report: inout Report) async throws {
        report.step("The user opens two of them")
        let before = try await player.cache.statistics()
        // The download that broke in the tunnel, and the one that took two launches.
        let episodes = publisher.shows.flatMap { $0.newest(2) }
        for episode in [episodes.first, episodes.last].compactMap(\.self) {
            try await open(episode, &report)
        }
        let after = try await player.cache.statistics()
        report.check(
            "the cache holds \(after.items) of \(before.items) items, charged \(after.chargedBytes.asBytes)",
            after.items == before.items - 2 && after.chargedBytes < before.chargedBytes)
    }

    private func open(_ episode: Episode, _ report: inout Report) async throws {
        guard let file = try await player.cache.open(try episode.key()) else {
            return report.check("\(episode.title) is there", false)
        }
        report.line("\(episode.title)")
        report.line("  -> \(file.url.path(percentEncoded: false).printable)")
        let documents = player.areas.documentsURL.path(percentEncoded: false)
        report.check("it is in Documents", file.url.path(percentEncoded: false).hasPrefix(documents))
        let isWhole = try Data(contentsOf: file.url) == Data(contentsOf: episode.original.url)
        report.check("its \(file.contentBytes) bytes are those of the original", isWhole)
    }
}
