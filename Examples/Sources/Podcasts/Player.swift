import PrefetchCaching
import PrefetchDownloading

/// The running app: one cache, and one downloader for it.
struct Player: Sendable {
    let areas: StorageAreas
    let cache: PrefetchCache
    let downloader: PrefetchDownloader

    /// Launches the app for the duration of `body`, and quits it in any case.
    static func launched(_ areas: StorageAreas, _ body: (Player) async throws -> Void) async throws {
        let cache = try await PrefetchCache(areas: areas)
        // Only these servers are contacted; plain http is allowed on loopback only.
        let configuration = DownloaderConfiguration(hosts: ["127.0.0.1"])
        let player = Player(
            areas: areas, cache: cache,
            downloader: PrefetchDownloader(cache: cache, configuration: configuration))
        do {
            // Most of the work here is the cache's, and files are compared, which may block on its executor.
            try await withTaskExecutorPreference(cache.executor) { try await body(player) }
        } catch {
            try await player.quit()
            throw error
        }
        try await player.quit()
    }

    private func quit() async throws {
        // Keeps the received part of downloads under way, as does the death of an app.
        await downloader.cancelAll()
        try await cache.close()
    }
}
