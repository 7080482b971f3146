import PrefetchCache
import PrefetchDownloader

/// The app while it runs: one cache, and one downloader for it.
struct Player: Sendable {
    let areas: StorageAreas
    let cache: PrefetchCache
    let downloader: PrefetchDownloader

    /// Launches the app for the time of `body`, and quits it whatever happens.
    static func launched(_ areas: StorageAreas, _ body: (Player) async throws -> Void) async throws {
        let cache = try await PrefetchCache(areas: areas)
        // Only servers that are named here are asked, and plain http only on loopback.
        let configuration = DownloaderConfiguration(hosts: ["127.0.0.1"])
        let player = Player(
            areas: areas, cache: cache,
            downloader: PrefetchDownloader(cache: cache, configuration: configuration))
        do {
            // Nearly all that is done here is done by the cache, and files are compared, which may block on its
            // executor.
            try await withTaskExecutorPreference(cache.executor) { try await body(player) }
        } catch {
            try await player.quit()
            throw error
        }
        try await player.quit()
    }

    private func quit() async throws {
        // Keeps what has come of the downloads that are under way. An app that is killed keeps it, too.
        await downloader.cancelAll()
        try await cache.close()
    }
}
