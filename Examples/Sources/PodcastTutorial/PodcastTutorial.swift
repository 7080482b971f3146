import Foundation
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// The program of the tutorial "A podcast app in an afternoon": ``Library`` is the app, and this a day of its user.
@main
struct PodcastTutorial {
    let areas: StorageAreas
    let server: MediaServer
    let url: URL

    static func main() async {
        await Demonstration.run { container, report in
            try await MediaServer.serving(in: container.appending(path: "server")) { server in
                let url = try Feed.publish("Daily", episodes: 5, on: server)
                // An app has `StorageAreas.application(id: "org.example.podcasts")` instead.
                let areas = try StorageAreas.container(at: container.appending(path: "app"))
                    .excluding(into: "org.example.podcasts")
                let day = PodcastTutorial(areas: areas, server: server, url: url)
                try await day.morning(&report)
                try await day.evening(&report)
            }
        }
    }

    private func morning(_ report: inout Report) async throws {
        let (library, feed) = try await launch(isCharging: false)
        report.step("Morning, on battery")
        tell(try await library.prefetch(feed), feed, report)
        report.check("only the feed was requested", try await server.requests().count == 1)

        report.step("The user taps \(feed.episodes[2].title) nevertheless, and rides into a tunnel")
        try await play(feed.episodes[2], feed, library, &report)
        let requests = try await server.requests(for: "3.mp3")
        report.check(
            "requested: \(requests.joined(separator: ", then "))", requests == ["whole", "bytes=1048576-"])
        try await library.quit()
    }

    private func evening(_ report: inout Report) async throws {
        let (library, feed) = try await launch(isCharging: true)
        report.step("Evening, charging")
        let outcomes = try await library.prefetch(feed)
        tell(outcomes, feed, report)
        let stored = outcomes.count { if case .stored = $0 { true } else { false } }
        report.check("three fit into the budget", stored == 3)

        report.step("The user taps \(feed.episodes[0].title)")
        try await play(feed.episodes[0], feed, library, &report)

        report.step("Was it worth it?")
        let statistics = try await library.cache.statistics()
        report.line("\(statistics.chargedBytes.asBytes) of \(statistics.budgetBytes.asBytes) are charged")
        report.line("\(statistics.hits) of \(statistics.hits + statistics.misses) taps found their episode")
        report.line("\(statistics.figures[.fetchedBytes].asBytes) were downloaded")
        report.check("it was worth it, once", statistics.figures.hitRatio == 0.5)

        report.step("The app goes to the background, and comes back")
        try await library.enterBackground()
        try await library.enterForeground()
        report.check("nothing is lost", try await library.cache.statistics().items == statistics.items)
        try await library.quit()
    }

    private func launch(isCharging: Bool) async throws -> (Library, Feed) {
        var state = DeviceState()
        state.hasExternalPower = isCharging
        let library = try await Library(areas: areas, device: { [state] in state })
        guard let feed = try await library.feed(at: url) else { throw StoryError("there is no feed") }
        return (library, feed)
    }

    private func play(
        _ episode: Episode, _ feed: Feed, _ library: Library, _ report: inout Report
    ) async throws {
        guard let file = try await library.play(episode, of: feed) else {
            return report.check("\(episode.title) is there", false)
        }
        report.line("\(file.location.path): \(file.backup == .exclude ? "excluded from" : "part of") backups")
        let length = try file.url.resourceValues(forKeys: [.fileSizeKey]).fileSize
        report.check("it is whole", length == Int(episode.bytes))
        report.check("its folder is marked", try isMarked(areas.documentsURL))
    }

    private func isMarked(_ documents: URL) throws -> Bool {
        let folder = documents.appending(path: "org.example.podcasts")
        #if canImport(Darwin)
            return try folder.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup == true
        #else
            return try folder.appending(path: "CACHEDIR.TAG").checkResourceIsReachable()
        #endif
    }

    private func tell(_ outcomes: [DownloadOutcome], _ feed: Feed, _ report: Report) {
        for (episode, outcome) in zip(feed.episodes, outcomes) {
            let text =
                switch outcome {
                case .stored(let summary): "stored, \(summary.contentBytes.asBytes)"
                case .alreadyPromoted: "the user has it"
                case .postponed(let condition, _): "postponed: \(condition)"
                case .refused(let refusal, _): "refused: \(refusal)"
                default: "\(outcome)"
                }
            report.fact(episode.title, text)
        }
    }
}
