internal import Foundation
internal import PrefetchCaching
internal import PrefetchDownloading
internal import Synchronization

/// Downloads, reported as they proceed, until all have ended or a signal interrupts them.
struct DownloadSession {
    let cache: PrefetchCache
    let configuration: DownloaderConfiguration
    let shared: SharedOptions

    /// - Parameter failures: What could not become a download.
    /// - Throws: ``CommandFailure`` if a download failed, there are `failures`, or a signal came, and what writing to `output`
    ///   throws.
    func run(
        _ downloads: [(target: FetchTarget, request: DownloadRequest)], after failures: [CommandFailure] = [],
        to output: Output
    ) async throws {
        output.stopsOnBrokenPipe = true
        let downloader = PrefetchDownloader(
            cache: cache, configuration: configuration, logger: shared.logger)
        let signals = SignalHandler([SIGINT, SIGTERM]) { _ in Task { await downloader.cancelAll() } }
        defer { signals.end() }
        var report = FetchReport(
            downloads.map(\.target), after: failures, to: output,
            board: output.isJSON || output.isQuiet || shared.verbose ? nil : ProgressBoard.onTerminal())
        defer { report.clear() }
        let handles = downloader.prefetch(downloads.map(\.request))
        do {
            for await (index, event) in events(of: handles, withProgress: report.showsProgress) {
                if let signal = signals.firstSignal { report.codeOfCancelled = .ended(by: signal) }
                try report.take(event, of: index)
            }
        } catch {
            // Standard output was closed by its reader.
            await downloader.cancelAll()
            throw error
        }
        if let signal = signals.firstSignal { throw CommandFailure(.ended(by: signal), nil) }
        if let failure = report.failure { throw failure }
    }

    /// The events of several downloads in one stream, which ends when all of them have ended.
    private func events(of downloads: [Download], withProgress: Bool) -> AsyncStream<(Int, DownloadEvent)> {
        let (events, continuation) = AsyncStream.makeStream(of: (Int, DownloadEvent).self)
        let left = Atomic(downloads.count)
        for (index, download) in downloads.enumerated() {
            download.listen { event in
                if case .progress = event, !withProgress { return }
                continuation.yield((index, event))
                guard case .finished = event else { return }
                if left.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 { continuation.finish() }
            }
        }
        if downloads.isEmpty { continuation.finish() }
        return events
    }
}
