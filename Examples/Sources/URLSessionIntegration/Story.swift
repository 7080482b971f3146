import Foundation
import MediaServer
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// Downloads that are stored at once, at the next launch, and not at all.
struct Story: Sendable {
    private static let lengths = (1 << 18)...(1 << 21)

    let container: URL

    func tell() async throws -> Report {
        let workshop = container.appending(path: "server")
        return try await MediaServer.serving(in: workshop) { server in
            var report = Report()
            print("PrefetchCache with a URLSession of the app's own")
            let files = try RealFiles(4, lengths: Self.lengths, workshop: workshop).files
            let areas = try StorageAreas.container(at: container.appending(path: "app"))

            try await launch(areas) { cache, downloads in
                try await storeAtOnce(files[0], server, cache, downloads, &report)
                try await failWithStatus(server, downloads, &report)
                try await quitBeforeStoring(files[1], server, downloads, &report)
            }
            try await launch(areas) { cache, downloads in
                try await storeWhatWasLeft(files[1], cache, downloads, &report)
                try await tellWhatIsUnderWay(files[2], server, downloads, &report)
                try await refuse(files[2], files[3], server, cache, downloads, &report)
            }
            report.gap()
            let left = try FileManager.default.contentsOfDirectory(
                atPath: areas.temporaryURL.appending(path: "Downloads").path)
            report.check("\(left.count) files are left in the inbox", left.isEmpty)
            report.line(report.failedChecks == 0 ? "All is as told." : "NOT everything is as told.")
            return report
        }
    }

    private func launch(
        _ areas: StorageAreas, _ body: (PrefetchCache, EpisodeDownloads) async throws -> Void
    ) async throws {
        let cache = try await PrefetchCache(areas: areas)
        do {
            let downloads = try EpisodeDownloads(
                cache: cache, areas: areas, hosts: ["127.0.0.1", "localhost"])
            defer { downloads.close() }
            // Files are compared here, which may block only on the cache's executor.
            try await withTaskExecutorPreference(cache.executor) { try await body(cache, downloads) }
        } catch {
            try await cache.close()
            throw error
        }
        try await cache.close()
    }

    private func storeAtOnce(
        _ file: MediaFile, _ server: MediaServer, _ cache: PrefetchCache, _ downloads: EpisodeDownloads,
        _ report: inout Report
    ) async throws {
        report.step("A download is taken within the callback, and stored after it")
        try await cache.configure(CacheConfiguration(budget: .fixed(.mebibytes(64))))
        let wish = Wish(key: "episode-1", source: "daily", name: "Episode 1")
        let url = try server.publish(file.url, at: wish.key)
        let refusal = try await downloads.fetch(url, wish, length: file.length)
        report.check("there is room for its \(file.length) bytes", refusal == nil)
        report.check("its file arrives", await arrival(downloads) == "file episode-1")
        let outcomes = try await downloads.storeArrivals()
        report.check("it is stored", isStored(outcomes, "episode-1"))
        let metadata = try await cache.metadata(of: "episode-1")
        report.check(
            "with its feed and its entity tag, \(metadata?.validator.entityTag ?? "none")",
            metadata?.source == "daily" && metadata?.validator.entityTag != nil)
        try await open("episode-1", file, cache, &report)
    }

    private func failWithStatus(
        _ server: MediaServer, _ downloads: EpisodeDownloads, _ report: inout Report
    ) async throws {
        report.step("An answer that is no episode")
        let wish = Wish(key: "episode-0", source: "daily", name: "Episode 0")
        _ = try await downloads.fetch(server.url(of: wish.key), wish, length: 1)
        let arrival = await arrival(downloads)
        report.check("failed: \(arrival)", arrival == "episode-0: the server answered 404")
        report.check("nothing is stored for it", try await downloads.storeArrivals().isEmpty)
    }

    /// A case that the user would not notice: the app is killed after the file came, and before it is stored.
    private func quitBeforeStoring(
        _ file: MediaFile, _ server: MediaServer, _ downloads: EpisodeDownloads, _ report: inout Report
    ) async throws {
        report.step("A file comes, and the app is gone before it is stored")
        let wish = Wish(key: "episode-2", source: "daily", name: "Episode 2")
        let url = try server.publish(file.url, at: wish.key)
        _ = try await downloads.fetch(url, wish, length: file.length)
        report.check("its file arrives", await arrival(downloads) == "file episode-2")
        report.line("The app quits.")
    }

    private func storeWhatWasLeft(
        _ file: MediaFile, _ cache: PrefetchCache, _ downloads: EpisodeDownloads, _ report: inout Report
    ) async throws {
        report.step("The next launch stores what the last one left")
        report.check("episode-2 is not in the cache yet", try await cache.contains("episode-2") == false)
        report.check("it is stored", isStored(try await downloads.storeArrivals(), "episode-2"))
        try await open("episode-2", file, cache, &report)
    }

    private func tellWhatIsUnderWay(
        _ file: MediaFile, _ server: MediaServer, _ downloads: EpisodeDownloads, _ report: inout Report
    ) async throws {
        report.step("What is under way, the tasks tell")
        let wish = Wish(key: "episode-5", source: "daily", name: "Episode 5")
        server.impair(wish.key, .holdBack(after: 0))
        let url = try server.publish(file.url, at: wish.key)
        _ = try await downloads.fetch(url, wish, length: file.length)
        let keys = try await downloads.underWay()
        report.check("their descriptions say: \(keys)", keys == [wish.key])
    }

    private func refuse(
        _ first: MediaFile, _ second: MediaFile, _ server: MediaServer, _ cache: PrefetchCache,
        _ downloads: EpisodeDownloads, _ report: inout Report
    ) async throws {
        report.step("No room: before the download, and after it")
        let early = Wish(key: "episode-3", source: "daily", name: "Episode 3")
        let url = try server.publish(first.url, at: early.key)
        try await cache.configure { $0.largestItem = .bytes(first.length / 2) }
        let refusal = try await downloads.fetch(url, early, length: first.length)
        if let refusal { report.line("Refused: \(refusal).") }
        let asked = try await server.requests(for: early.key).count
        report.check("refused before the server was asked", refusal != nil && asked == 0)

        let late = Wish(key: "episode-4", source: "daily", name: "Episode 4")
        try await cache.configure { $0.largestItem = nil }
        _ = try await downloads.fetch(
            try server.publish(second.url, at: late.key), late, length: second.length)
        report.check("another one is downloaded", await arrival(downloads) == "file episode-4")
        // Meanwhile the user has made the cache smaller.
        try await cache.configure { $0.budget = .fixed(.bytes(second.length / 2)) }
        let outcomes = try await downloads.storeArrivals()
        if case .refused(let refusal, _)? = outcomes.first?.outcome {
            report.line("Refused: \(refusal).")
            report.check("refused when it was to be stored", outcomes.first?.key == "episode-4")
        } else {
            report.check("refused when it was to be stored", false)
        }
    }

    private func open(
        _ key: ItemKey, _ file: MediaFile, _ cache: PrefetchCache, _ report: inout Report
    ) async throws {
        guard let opened = try await cache.open(key) else { return report.check("\(key) is there", false) }
        report.line("opened: \(opened.url.path(percentEncoded: false).printable)")
        let isWhole = try Data(contentsOf: opened.url) == Data(contentsOf: file.url)
        report.check("its \(opened.contentBytes) bytes are those of the server", isWhole)
    }

    private func isStored(_ outcomes: [(key: String, outcome: DownloadOutcome)], _ key: String) -> Bool {
        guard outcomes.count == 1, case (key, .stored)? = outcomes.first else { return false }
        return true
    }

    /// Waits for the next outcome that the delegate reports.
    private func arrival(_ downloads: EpisodeDownloads) async -> String {
        for await arrival in downloads.arrivals {
            switch arrival {
            case .file(let key): return "file \(key)"
            case .failed(let key, let reason): return "\(key): \(reason)"
            case .caughtUp: continue
            }
        }
        return "none"
    }
}
