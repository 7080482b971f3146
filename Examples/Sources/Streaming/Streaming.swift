import Foundation
import PrefetchCaching
import PrefetchDownloading
import Storytelling

/// How a player plays what is still being downloaded: over a server on loopback, which any player understands.
///
/// ``PlaybackServer`` is the part to copy. Here it is at work with nginx, from which a film is downloaded, and with `curl`,
/// which plays it meanwhile.
@main
struct Streaming {
    static func main() async {
        await Demonstration.run { container, report in
            print("PrefetchCache plays what it is still downloading")
            try await MediaServer.serving(in: container.appending(path: "server")) { server in
                let cache = try await PrefetchCache(areas: .container(at: container.appending(path: "app")))
                let downloader = PrefetchDownloader(
                    cache: cache, configuration: DownloaderConfiguration(hosts: ["127.0.0.1"]))
                var generator = SplitMix64(state: 1)
                let film = generator.media(24 << 20)
                try server.publish(film, as: "film.mp4")
                try await PlaybackServer.serving(cache) { url in
                    // The download takes six seconds.
                    let origin = try server.url("slow/\(4 << 20)/film.mp4")
                    try await play(film, from: origin, cache, downloader, at: url("film"), &report)
                }
                try await cache.close()
            }
        }
    }

    private static func play(
        _ film: Data, from origin: URL, _ cache: PrefetchCache, _ downloader: PrefetchDownloader,
        at url: String, _ report: inout Report
    ) async throws {
        let request = DownloadRequest(
            origin, key: "film", destination: .documents("Film.mp4"), intent: .userRequested)

        report.step("The user taps the film, and the player asks for its beginning and its end at once")
        var download = downloader.prefetch(request)
        let beginning = try curl(url, "0-999")
        let end = try curl(url, "-1000")
        let whole = try curl(url, "0-")
        report.check("the first 1000 bytes are played", try await beginning.value == film.prefix(1000))
        report.check("while the film is not there yet", try await cache.contains("film") == false)

        report.step("The app is interrupted three times, and goes on")
        for number in 1...3 {
            for await event in download.events {
                if case .progress(let progress) = event, progress.completedBytes >= film.count / 5 * number {
                    break
                }
            }
            // Keeps what has come, as does the death of an app.
            download.cancel()
            download = downloader.prefetch(request)
        }
        var isDelivered = false
        if case .delivered = await download.outcome { isDelivered = true }
        report.check("the download ends", isDelivered)
        report.check("and the last 1000 bytes are played", try await end.value == film.suffix(1000))

        report.step("The player has noticed nothing")
        report.check("the whole film is played, byte for byte", try await whole.value == film)
        let again = try curl(url, "5000000-5000009")
        report.check(
            "and now from its file in Documents", try await again.value == film[5_000_000..<5_000_010])
    }

    /// Plays a range of bytes, as any player does that knows ranges.
    private static func curl(_ url: String, _ range: String) throws -> Task<Data, any Error> {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["curl", "--silent", "--fail", url, "--range", range]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return Task {
            try await withCheckedThrowingContinuation { continuation in
                // Blocks, which tasks must not.
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result { try output.fileHandleForReading.readToEnd() ?? Data() })
                }
            }
        }
    }
}
