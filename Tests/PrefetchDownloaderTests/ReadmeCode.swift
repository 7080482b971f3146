import FileSystemTestSupport
import Foundation
import HTTPTestServer
import PrefetchCaching
import PrefetchDownloading
import SystemPackage
import Testing

/// The code of the README, compiled and run. `ReadmeTests` finds each of its paragraphs in this file.
@Suite struct ReadmeCode {
    private let folder: TemporaryFolder
    private let cache: PrefetchCache
    private let episode = ItemMetadata(
        key: "episode-42", source: "feeds.example.org", destination: .documents("Episode 42.mp3"))
    private let played = Played()

    private actor Played {
        var urls: [URL] = []

        func add(_ url: URL) { urls.append(url) }
    }

    init() async throws {
        folder = try TemporaryFolder()
        cache = try await PrefetchCache(
            areas: .container(at: URL(filePath: folder.path.string)), environment: .live(logger: .silent))
    }

    /// Compiled only: it would use the home folder of whoever runs the tests.
    private func create() async throws -> PrefetchCache {
        let cache = try await PrefetchCache(areas: .application(id: "org.example.podcasts"))
        return cache
    }

    private func store(_ data: Data) async throws {
        // A downloader stores what the user may want. A lack of room is returned as a value, not thrown.
        let episode = ItemMetadata(
            key: "episode-42", source: "feeds.example.org", destination: .documents("Episode 42.mp3"))
        switch try await cache.store(data, as: episode) {
        case .stored(let summary): print("\(summary.storedBytes) bytes, \(summary.encoding)")
        case .delivered(let file): print(file.url)  // only with `intent: .userRequested`
        case .refused(let refusal): print(refusal)
        }
    }

    private func look() async throws -> Data? {
        // The app looks at an item without claiming it (a range must lie within the content) …
        let head = try await cache.read("episode-42", range: 0..<10)

        return head
    }

    private func open() async throws {
        let server = "the server"
        // … and hands it over when the user opens it. From now on the file is the user's.
        do throws(CacheError) {
            if let file = try await cache.open("episode-42") {
                await play(file.url)
            } else {
                stream(from: server)
            }
        } catch {
            guard case .movedOrDeleted = error else { throw error }
            stream(from: server)  // the user has taken the file away since
        }
    }

    private func play(_ url: URL) async { await played.add(url) }

    private func stream(from server: String) {}

    private func prefetch(_ url: URL) -> Download {
        let downloader = PrefetchDownloader(
            cache: cache, configuration: DownloaderConfiguration(hosts: ["media.example.org"]))
        let download = downloader.prefetch(
            DownloadRequest(url, key: "episode-42", destination: .documents("Episode 42.mp3")))
        return download
    }

    private func wait(for download: Download) async throws {
        print(await download.outcome)
        for item in try await cache.items() { print(item.key, item.contentBytes, item.storedBytes) }
    }

    private func configure() async throws {
        try await cache.configure { $0.budget = .fixed(.mebibytes(500)) }
    }

    @Test func itWorks() async throws {
        try await configure()
        try await store(content)
        #expect(try await look() == content.prefix(10))
        try await open()
        let url = try #require(await played.urls.first)
        #expect(try Data(contentsOf: url) == content)
        try FileManager.default.removeItem(at: url)
        try await open()
        #expect(await played.urls.count == 1)
        let foreign = try #require(URL(string: "https://elsewhere.example.org/42.mp3"))
        try await wait(for: prefetch(foreign))
        guard case .failed = await prefetch(foreign).outcome else {
            Issue.record("a host that is not allowed was contacted")
            return
        }
    }
}
