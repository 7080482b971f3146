import Foundation
import MediaServer
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// Every show has a new episode, and the budget does not fit them all.
struct NextDay {
    let player: Player
    let publisher: Publisher

    func run(_ report: inout Report) async throws {
        report.step("Wednesday: a smaller budget, and newer episodes")
        let newest = publisher.shows.flatMap { $0.newest(1) }
        let budget = try await limit(toFit: newest)
        // The coldest first, which is the order of eviction.
        let before = try await player.cache.items()
        report.line(
            "In the settings the user allows \(budget.bytes.asBytes). \(before.count) episodes are cached.")

        var peak: Int64 = 0
        var stored = 0
        for episode in newest {
            let download = player.downloader.prefetch(try episode.request(from: publisher.server))
            if case .stored = await download.outcome { stored += 1 }
            peak = max(peak, try await player.cache.statistics().chargedBytes)
        }
        report.check("\(stored) of \(newest.count) new ones are stored", stored == newest.count)
        report.check("at most \(peak) of \(budget.bytes) bytes were charged", peak <= budget.bytes)
        try await tellWhoWent(before, newest, &report)
        try await askForOpened(&report)
    }

    /// Little more than the stored bytes, so that something must be evicted.
    private func limit(toFit newest: [Episode]) async throws -> ByteCount {
        let charged = try await player.cache.statistics().chargedBytes
        let longest = newest.map(\.length).max() ?? 0
        // Above 95 % of the budget the cache would trim at once; and until an episode is stored, its uncompressed
        // length is reserved.
        let budget = ByteCount.bytes(max(charged * 10 / 9, longest * 5 / 2))
        try await player.cache.configure { configuration in
            configuration.budget = .fixed(budget)
            // The default is half the budget. Here one episode may be larger than that.
            configuration.largestItem = budget
        }
        return budget
    }

    private func tellWhoWent(
        _ before: [CachedItem], _ newest: [Episode], _ report: inout Report
    ) async throws {
        let cached = Set(try await player.cache.items().map(\.key))
        let gone = before.map(\.key).filter { !cached.contains($0) }
        for key in gone { report.line("  evicted: \(key)") }
        report.check("\(gone.count) had to go for them", !gone.isEmpty)
        report.check(
            "the least recently used, and no other", gone == before.prefix(gone.count).map(\.key))
        let newThere = try newest.count { cached.contains(try $0.key()) }
        report.check("the \(newThere) new ones are there", newThere == newest.count)
    }

    /// Opened files are out of the cache's reach, whatever the budget.
    private func askForOpened(_ report: inout Report) async throws {
        guard let episode = publisher.shows.first?.episodes.first else { return }
        let requests = try await publisher.server.requests().count
        let download = player.downloader.prefetch(try episode.request(from: publisher.server))
        var isTheirs = false
        if case .alreadyPromoted(let file) = await download.outcome {
            let isThere = try file.url.checkResourceIsReachable()
            isTheirs = try await publisher.server.requests().count == requests && isThere
        }
        report.check(
            "\(episode.title), which the user has opened, is still theirs; nobody is asked", isTheirs)
    }
}
