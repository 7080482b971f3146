import Foundation
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// How an app with its own `URLSession`, and perhaps a background session, uses the cache: downloads that are stored at
/// once, at the next launch, and not at all.
///
/// ``EpisodeDownloads`` and what it uses are the parts to copy. Here they are at work with nginx.
@main
struct URLSessionIntegration {
    let server: MediaServer
    let episodes: [Data]
    let cache: PrefetchCache
    let downloads: EpisodeDownloads

    static func main() async {
        await Demonstration.run { container, report in
            print("PrefetchCache with a URLSession of the app's own")
            try await MediaServer.serving(in: container.appending(path: "server")) { server in
                var generator = SplitMix64(state: 1)
                let episodes = (0...5).map { _ in generator.media(1 << 20) }
                for number in 1...5 { try server.publish(episodes[number], as: "episode-\(number)") }
                let areas = try StorageAreas.container(at: container.appending(path: "app"))
                let first = try await URLSessionIntegration(areas, server, episodes)
                try await first.storeAtOnce(&report)
                try await first.quitBeforeStoring(&report)
                try await first.quit()
                let second = try await URLSessionIntegration(areas, server, episodes)
                try await second.storeWhatWasLeft(&report)
                try await second.refuse(&report)
                try await second.quit()
            }
        }
    }

    private init(_ areas: StorageAreas, _ server: MediaServer, _ episodes: [Data]) async throws {
        self.server = server
        self.episodes = episodes
        cache = try await PrefetchCache(areas: areas)
        downloads = try EpisodeDownloads(cache: cache, areas: areas, hosts: ["127.0.0.1"])
    }

    private func quit() async throws {
        downloads.close()
        try await cache.close()
    }

    private func storeAtOnce(_ report: inout Report) async throws {
        report.step("A download is taken within the callback, and stored after it")
        try await cache.configure { $0.budget = .fixed(.mebibytes(64)) }
        report.check("there is room", try await fetch("episode-1") == nil)
        report.check("its file arrives", await arrival() == .file(key: "episode-1"))
        report.check("it is stored", isStored(try await downloads.storeArrivals()["episode-1"]))
        let metadata = try await cache.metadata(of: "episode-1")
        report.check("with its entity tag", metadata?.validator.entityTag != nil)

        report.step("An answer that is no episode")
        _ = try await fetch("episode-0")
        report.check(
            "it has failed",
            await arrival() == .failed(key: "episode-0", reason: "the server answered 404"))
        report.check("nothing is stored for it", try await downloads.storeArrivals().isEmpty)

        report.step("What is under way, the tasks tell")
        _ = try await fetch("episode-5", from: "silent/0/episode-5")
        let keys = try await downloads.underWay()
        report.check("their descriptions say: \(keys)", keys == ["episode-5"])
    }

    private func quitBeforeStoring(_ report: inout Report) async throws {
        report.step("A file comes, and the app is gone before it is stored")
        _ = try await fetch("episode-2")
        report.check("its file arrives", await arrival() == .file(key: "episode-2"))
        report.check("it is not in the cache", try await cache.contains("episode-2") == false)
    }

    private func storeWhatWasLeft(_ report: inout Report) async throws {
        report.step("The next launch stores what the last one left, and the user opens it")
        report.check("it is stored", isStored(try await downloads.storeArrivals()["episode-2"]))
        guard let file = try await cache.open("episode-2") else { throw StoryError("it is not there") }
        report.check("its bytes are those of the server", try Data(contentsOf: file.url) == episodes[2])
    }

    private func refuse(_ report: inout Report) async throws {
        report.step("No room: before the download, and after it")
        try await cache.configure { $0.largestItem = .bytes(1 << 19) }
        if let refusal = try await fetch("episode-3") { report.line("Refused: \(refusal).") }
        let requests = try await server.requests(for: "episode-3")
        report.check("the server was not asked", requests.isEmpty)

        try await cache.configure { $0.largestItem = nil }
        _ = try await fetch("episode-4")
        report.check("another one is downloaded", await arrival() == .file(key: "episode-4"))
        // Meanwhile the user has made the cache smaller.
        try await cache.configure { $0.budget = .fixed(.bytes(1 << 19)) }
        guard case .refused(let refusal, _)? = try await downloads.storeArrivals()["episode-4"] else {
            return report.check("it is refused when it is to be stored", false)
        }
        report.line("Refused: \(refusal).")
        report.check("its file is removed", try await downloads.storeArrivals().isEmpty)
    }

    private func fetch(_ key: String, from path: String? = nil) async throws -> Refusal? {
        let wish = Wish(key: key, source: "daily", name: "\(key).mp3")
        return try await downloads.fetch(try server.url(path ?? key), wish, length: 1 << 20)
    }

    /// Waits for the next outcome that the delegate reports.
    private func arrival() async -> DownloadDelegate.Arrival? {
        for await arrival in downloads.arrivals { return arrival }
        return nil
    }

    private func isStored(_ outcome: DownloadOutcome?) -> Bool {
        if case .stored = outcome { true } else { false }
    }
}
