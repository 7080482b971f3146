internal import Foundation
public import PrefetchCaching

/// What became of a file that was to be downloaded again.
public struct Rehydration: Sendable {
    /// The file as the cache remembers it.
    public let file: PromotedFile
    /// The outcome of the download, ``DownloadOutcome/delivered(_:)`` if the file is back; `nil` if it was not tried, in
    /// a dry run or because no URL was recorded.
    public let outcome: DownloadOutcome?
}

extension PrefetchDownloader {
    /// Downloads opened files again that are missing because backups exclude them: after a restore, or on a new device.
    ///
    /// Each goes to where it was, or beside it if another file has taken its name, and only if it has the recorded
    /// content: a server's newer version is a failure, ``DownloadError/Reason/wrongDigest(expected:actual:)``. The URL
    /// must have been recorded (``DownloadRequest/recordedURL``), and its host be among the allowed ones.
    ///
    /// Files that the user has moved or deleted are also missing. To download only some, pass the files to
    /// ``DownloadRequest/init(rehydrating:)`` that ``/PrefetchCaching/PrefetchCache/promotedFiles()``
    /// returns as ``/PrefetchCaching/PromotedFile/isLost``.
    ///
    /// - Parameter dryRun: If `true`, only lists the files.
    /// - Returns: Every missing file, in the order of their first open.
    /// - Throws: What ``/PrefetchCaching/PrefetchCache/promotedFiles()`` throws. Failed downloads are in the result.
    public func rehydrate(dryRun: Bool = false) async throws(CacheError) -> [Rehydration] {
        let lost = try await cache.promotedFiles().filter(\.isLost)
        let downloads = lost.map { file in
            dryRun ? nil : DownloadRequest(rehydrating: file).map { prefetch($0) }
        }
        var rehydrations: [Rehydration] = []
        for (file, download) in zip(lost, downloads) {
            rehydrations.append(Rehydration(file: file, outcome: await download?.outcome))
        }
        return rehydrations
    }
}

extension DownloadRequest {
    /// A request for the recorded content of an opened file, to be written to where it was; `nil` if no URL was
    /// recorded.
    public init?(rehydrating file: PromotedFile) {
        guard let provenance = file.provenance, let url = provenance.url,
            let destination = Destination(
                area: file.location.area, name: file.name, in: file.folder, backup: file.backup)
        else { return nil }
        if file.parts.isEmpty {
            self.init(
                url, key: file.key, source: provenance.source, destination: destination,
                intent: .userRequested, expecting: [.length(file.contentBytes)],
                attributes: provenance.attributes, recordedURL: url, whenCached: .replace)
        } else {
            let files = file.parts.map { part in
                BundleFile(
                    part.path, at: url.appending(path: part.path.string),
                    expecting: [.length(part.contentBytes)])
            }
            self.init(
                bundle: files, key: file.key, source: provenance.source, destination: destination,
                intent: .userRequested, attributes: provenance.attributes, recordedURL: url,
                whenCached: .replace)
        }
        checksum = file.contentChecksum
    }
}
