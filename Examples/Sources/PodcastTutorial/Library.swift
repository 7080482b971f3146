import Foundation
import PrefetchCaching
import PrefetchDownloading

/// The app's podcasts: one cache, and one downloader for it.
struct Library: Sendable {
    let cache: PrefetchCache
    let downloader: PrefetchDownloader

    init(areas: StorageAreas, device: @escaping @Sendable () async -> DeviceState) async throws {
        cache = try await PrefetchCache(areas: areas)
        try await cache.configure { $0.budget = .fixed(.mebibytes(8)) }

        var configuration = DownloaderConfiguration(hosts: ["127.0.0.1"])
        configuration.conditions.insert(.externalPower)
        configuration.device = device
        downloader = PrefetchDownloader(cache: cache, configuration: configuration)
    }

    /// The newest version of the feed; offline, the last one that was seen.
    func feed(at url: URL) async throws -> Feed? {
        var request = DownloadRequest(url, key: "feed", source: "feeds", priority: 1)
        request.conditions = []
        _ = await downloader.prefetch(request).outcome
        guard let json = try await cache.read("feed", recordingUse: false) else { return nil }
        return try JSONDecoder().decode(Feed.self, from: json)
    }

    /// What to download for an episode, and where it goes when the user opens it.
    func request(
        for episode: Episode, of feed: Feed, intent: Intent = .opportunistic
    ) throws -> DownloadRequest {
        DownloadRequest(
            episode.url, key: try ItemKey(episode.id), source: feed.title,
            destination: .documents(
                FileName(sanitizing: "\(episode.title).mp3"),
                in: try FolderPath([FileName(sanitizing: feed.title)])),
            intent: intent, expecting: [.length(episode.bytes)])
    }

    /// Prefetches the episodes of a feed, the newest first.
    func prefetch(_ feed: Feed) async throws -> [DownloadOutcome] {
        let requests = try feed.episodes.map { try request(for: $0, of: feed) }
        var outcomes: [DownloadOutcome] = []
        for download in downloader.prefetch(requests) { outcomes.append(await download.outcome) }
        return outcomes
    }

    /// The file of an episode that the user taps; `nil` if it is neither cached nor to be had.
    func play(_ episode: Episode, of feed: Feed) async throws -> PromotedFile? {
        let key = try ItemKey(episode.id)
        do throws(CacheError) {
            if let file = try await cache.open(key) { return file }
        } catch {
            // The user has moved or deleted the file, and wants the episode again.
            guard case .movedOrDeleted = error else { throw error }
        }
        let request = try request(for: episode, of: feed, intent: .userRequested)
        guard case .delivered(let file) = await downloader.prefetch(request).outcome else { return nil }
        return file
    }

    func enterBackground() async throws { try await cache.suspend() }

    func enterForeground() async throws { try await cache.resume() }

    func quit() async throws {
        await downloader.cancelAll()
        try await cache.close()
    }
}
