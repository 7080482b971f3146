internal import Foundation
internal import Logging
public import PrefetchCaching

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension PrefetchDownloader {
    /// Returns a reader of an item, as `PrefetchCache.reader(for:patience:)` does, that does not wait until a download of this
    /// downloader has come as far as it reads: bytes that are more than 2 MiB ahead are requested at once, such as
    /// the index at the end of a film, or the place that the user has skipped to.
    ///
    /// ```swift
    /// downloader.prefetch(film)
    /// let index = try await downloader.reader(for: film.key).read(indexRange)
    /// ```
    ///
    /// They come by requests of their own, for at most 1 MiB each, which need no slot and no room in the cache, and end with
    /// the call that reads. They are not stored, and the download fetches them again when it has come there: so they
    /// count as wasted. The server must support ranges, and have the version that is being
    /// downloaded; otherwise, and for bundles, they are waited for. No checksum or digest covers them.
    ///
    /// While nobody is storing the item, the reader waits for the time of `patience`, at least half a second.
    public func reader(for key: ItemKey, patience: Duration = .seconds(30)) -> ContentReader {
        cache.reader(for: key, patience: patience) { [weak self] range in
            guard let run = self?.run(of: key), !run.job.isStopped, run.request.files.isEmpty else {
                return nil
            }
            return Task { await run.fetch(range) }
        }
    }
}

extension DownloadRun {
    /// Fetches a part of the content for somebody who cannot wait for it.
    ///
    /// - Returns: All of it, or `nil`.
    fileprivate func fetch(_ range: DistantRange) async -> Data? {
        guard !slots.isPaused(entry.host),
            let condition = range.validator.rangeCondition(now: environment.now())
        else { return nil }
        var urlRequest = request.urlRequest
        urlRequest.prepare(for: .whole)
        urlRequest.setValue(
            "bytes=\(range.bytes.lowerBound)-\(range.bytes.upperBound - 1)", forHTTPHeaderField: "Range")
        urlRequest.setValue(condition, forHTTPHeaderField: "If-Range")
        var content = Data()
        do {
            // The download may not have had its turn yet.
            try requireAllowed()
            let (head, exchange) = try await send(urlRequest)
            defer { exchange.cancel() }
            guard head.isPart(range, condition) else { return nil }
            while content.count < range.bytes.count, let piece = try await exchange.next() {
                content += piece
            }
        } catch {
            // It is waited for.
            environment.logger.debug("A range was not fetched.", metadata: ["error": "\(error)"])
        }
        let received = Int64(content.count)
        await countFetched(received, again: 0, inVain: received)
        return content.count == range.bytes.count ? content : nil
    }
}

extension ResponseHead {
    fileprivate func isPart(_ range: DistantRange, _ condition: String) -> Bool {
        guard status == 206, encoding == nil, let part = contentRange else { return false }
        return part.bytes == range.bytes && part.total == range.contentBytes
            && isOfTheVersion(condition, of: range.validator)
    }
}
