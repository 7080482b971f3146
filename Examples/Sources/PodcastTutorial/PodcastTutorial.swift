import Foundation
import MediaServer
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// The program of the tutorial "A podcast app in an afternoon": ``Library`` is the app, and this a day of its user.
@main
struct PodcastTutorial {
    static func main() async {
        await Demonstration.run(named: "PodcastTutorial") { container in
            let workshop = container.appending(path: "server")
            return try await MediaServer.serving(in: workshop) { server in
                let feed = try Feed.publish(
                    "Daily", episodes: 5, on: server, in: workshop.appending(path: "new"))
                // An app has `StorageAreas.application(id: "org.example.podcasts")` instead.
                let areas = try StorageAreas.container(at: container.appending(path: "app"))
                    .excluding(into: "org.example.podcasts")
                return try await Day(areas: areas, server: server, url: feed).pass()
            }
        }
    }
}

private struct Day {
    let areas: StorageAreas
    let server: MediaServer
    let url: URL

    func pass() async throws -> Report {
        var report = Report()
        for (isCharging, part) in [(false, morning), (true, evening)] {
            let device = DeviceStateSource {
                var state = DeviceState()
                state.hasExternalPower = isCharging
                return state
            }
            let library = try await Library(areas: areas, device: device)
            do {
                guard let feed = try await library.feed(at: url) else { throw StoryError("there is no feed") }
                try await part(library, feed, &report)
            } catch {
                try await library.quit()
                throw error
            }
            try await library.quit()
        }
        return report
    }

    private func morning(_ library: Library, _ feed: Feed, _ report: inout Report) async throws {
        report.step("Morning, on battery")
        tell(try await library.prefetch(feed), feed, &report)
        report.check("only the feed was requested", try await server.requests().count == 1)

        report.step("The user taps \(feed.episodes[2].title) nevertheless")
        try await play(feed.episodes[2], feed, library, &report)
    }

    private func evening(_ library: Library, _ feed: Feed, _ report: inout Report) async throws {
        report.step("Evening, charging")
        let outcomes = try await library.prefetch(feed)
        tell(outcomes, feed, &report)
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

    private func tell(_ outcomes: [DownloadOutcome], _ feed: Feed, _ report: inout Report) {
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
