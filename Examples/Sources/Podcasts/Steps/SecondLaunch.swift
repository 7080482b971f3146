import MediaServer
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// Requests the same episodes again: stored ones cost nothing, and the interrupted one resumes.
struct SecondLaunch {
    let player: Player
    let publisher: Publisher

    func run(_ report: inout Report) async throws {
        report.step("Tuesday: the app is launched again")
        report.line("It asks for the same episodes. It need not know what it has.")
        let server = publisher.server
        let episodes = publisher.shows.flatMap { $0.newest(2) }
        guard let begun = episodes.last else { return }
        let requestsBefore = try await server.requests().count
        let key = try begun.key()
        let kept = try await player.cache.partials().first { $0.key == key }?.contentBytes ?? 0

        let downloads = player.downloader.prefetch(try episodes.map { try $0.request(from: server) })
        var unchanged = 0
        for download in downloads.dropLast() where await download.outcome == .notModified { unchanged += 1 }
        let requests = try await server.requests().dropFirst(requestsBefore)
        let received = requests.filter { $0.path != begun.path }.reduce(0) { $0 + $1.sent }
        report.check(
            "\(unchanged) have not changed, the server says, and sends \(received) bytes",
            unchanged == downloads.count - 1 && received == 0)

        var isStored = false
        if case .stored(let summary)? = await downloads.last?.outcome {
            isStored = summary.contentBytes == begun.length
        }
        report.check("\(begun.title) is stored now, \(begun.length) bytes", isStored)
        guard let second = try await server.requests(for: begun.path).last else { return }
        report.line("  the server was asked for \(second.range ?? "the whole")")
        report.check(
            "it sent \(second.announced) bytes the second time, those that were missing",
            kept > 0 && second.range == "bytes=\(kept)-" && second.announced == begun.length - kept)
    }
}
