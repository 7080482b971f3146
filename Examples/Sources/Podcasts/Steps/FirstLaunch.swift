import Foundation
import MediaServer
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// Fetches the newest episodes of every show, over a bad connection, until the user quits the app.
struct FirstLaunch {
    private static let budget = ByteCount.mebibytes(64)
    /// What is kept of an interrupted download: whole chunks.
    private static let chunk = 1 << 20
    /// Half of an episode or more.
    private static let whereItBreaks = 3 << 19

    let player: Player
    let publisher: Publisher

    func run(_ report: inout Report) async throws {
        report.step("Monday: fetch the two newest of each show")
        try await player.cache.configure(CacheConfiguration(budget: .fixed(Self.budget)))
        report.line("The cache may take \(Self.budget.bytes.asBytes).")
        let episodes = publisher.shows.flatMap { $0.newest(2) }
        guard let tunnel = episodes.first, let slow = episodes.last else { return }
        publisher.server.impair(tunnel.path, .breakOff(after: Self.whereItBreaks))
        publisher.server.impair(slow.path, .holdBack(after: Self.whereItBreaks))

        // All that an app has to do: hand over its requests.
        let downloads = player.downloader.prefetch(
            try episodes.map { try $0.request(from: publisher.server) })

        var stored = 0
        for (episode, download) in zip(episodes, downloads).dropLast() {
            if case .stored(let summary) = await download.outcome, summary.contentBytes == episode.length {
                stored += 1
            }
        }
        report.check("\(stored) of \(downloads.count - 1) are stored", stored == downloads.count - 1)
        try await tell(of: tunnel, &report)
        if let last = downloads.last { try await quit(during: last, of: slow, &report) }
    }

    /// The downloader has resumed by itself; the server knows from where.
    private func tell(of tunnel: Episode, _ report: inout Report) async throws {
        report.gap()
        report.line("A tunnel: the connection broke in the middle of \(tunnel.title).")
        let requests = try await publisher.server.requests(for: tunnel.path)
        for request in requests {
            report.line("  asked for \(request.range ?? "the whole"), got \(request.sent)")
        }
        let isResumed = requests.count == 2 && requests[1].status == 206
        report.check("the downloader tried again, and asked for the rest only", isResumed)
    }

    private func quit(
        during download: Download, of episode: Episode, _ report: inout Report
    ) async throws {
        for await event in download.events {
            if case .progress(let progress) = event, progress.completedBytes >= Self.chunk { break }
        }
        await player.downloader.cancelAll()
        guard case .cancelled(let kept) = await download.outcome else {
            return report.check("\(episode.title) is under way", false)
        }
        report.gap()
        report.line("\(episode.title) is slow, and the user quits the app in the middle of it.")
        let key = try episode.key()
        let partial = try await player.cache.partials().first { $0.key == key }
        report.check(
            "\(kept) of \(episode.length) bytes are kept", kept > 0 && partial?.contentBytes == kept)
    }
}
