import Foundation
import MediaServer
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// A film that is watched while it is downloaded, although the app is interrupted three times.
struct Story: Sendable {
    private static let length = 24 << 20
    /// The download takes six seconds.
    private static let rate = 4 << 20

    let container: URL

    func tell() async throws -> Report {
        var report = Report()
        print("PrefetchCache plays what it is still downloading")
        var generator = SplitMix64(state: 1)
        let film = (0..<Self.length / 8).map { _ in generator.next() }.withUnsafeBytes { Data($0) }
        let file = container.appending(path: "film")
        try film.write(to: file)
        let cache = try await PrefetchCache(areas: .container(at: container.appending(path: "app")))
        do {
            try await MediaServer.serving(in: container.appending(path: "server")) { server in
                server.impair("film.mp4", .slow(bytesPerSecond: Self.rate))
                let origin = try server.publish(file, at: "film.mp4")
                let downloader = PrefetchDownloader(
                    cache: cache, configuration: DownloaderConfiguration(hosts: ["127.0.0.1"]))
                try await PlaybackServer.serving(downloader) { url in
                    try await play(film, from: origin, cache, downloader, at: url("film"), &report)
                }
            }
        } catch {
            try await cache.close()
            throw error
        }
        try await cache.close()
        report.gap()
        report.line(report.failedChecks == 0 ? "All is as told." : "NOT everything is as told.")
        return report
    }

    private func play(
        _ film: Data, from origin: URL, _ cache: PrefetchCache, _ downloader: PrefetchDownloader,
        at url: String, _ report: inout Report
    ) async throws {
        let request = DownloadRequest(
            origin, key: "film", destination: .documents("Film.mp4"), intent: .userRequested)

        report.step("The user taps the film, and the player asks for its beginning and its end at once")
        var download = downloader.prefetch(request)
        let beginning = try Player(url, range: "0-999")
        let end = try Player(url, range: "-1000")
        let whole = try Player(url)
        report.check("the first 1000 bytes are played", try await beginning.played() == film.prefix(1000))
        report.check(
            "and the last 1000, which are fetched at once", try await end.played() == film.suffix(1000))
        report.check("while the film is not there yet", try await cache.contains("film") == false)

        report.step("The app is interrupted three times, and goes on")
        for number in 1...3 {
            try await reach(Int64(Self.length / 5 * number), download)
            download.cancel()
            download = downloader.prefetch(request)
        }
        report.check("the download ends", try await isDelivered(download))

        report.step("The player has noticed nothing")
        report.check("the whole film is played, byte for byte", try await whole.played() == film)
        let again = try Player(url, range: "5000000-5000009")
        report.check(
            "and now from its file in Documents", try await again.played() == film[5_000_000..<5_000_010])
    }

    private func reach(_ bytes: Int64, _ download: Download) async throws {
        for await event in download.events {
            if case .progress(let progress) = event, progress.completedBytes >= bytes { return }
            if case .finished = event { throw StoryError("the download ended too early: \(event)") }
        }
    }

    private func isDelivered(_ download: Download) async throws -> Bool {
        if case .delivered = await download.outcome { true } else { false }
    }
}

/// `curl`, as any player that knows ranges.
private final class Player: Sendable {
    private let content: Task<Data, any Error>

    init(_ url: String, range: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["curl", "--silent", "--fail", url] + (range.map { ["--range", $0] } ?? [])
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let file = output.fileHandleForReading
        content = Task.detached {
            try await withCheckedThrowingContinuation { continuation in
                // Blocks, which tasks must not.
                Thread.detachNewThread {
                    continuation.resume(with: Result { try file.readToEnd() ?? Data() })
                }
            }
        }
    }

    func played() async throws -> Data { try await content.value }
}
