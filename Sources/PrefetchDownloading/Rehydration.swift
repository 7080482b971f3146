internal import Foundation
public import PrefetchCaching

extension DownloadRequest {
    /// A request for an opened file that is missing because backups exclude it: after a restore, or on a new device. `nil` if no
    /// URL was recorded (``DownloadRequest/recordedURL``).
    ///
    /// ```swift
    /// for file in try await cache.promotedFiles() where file.isLost {
    ///     if let request = DownloadRequest(rehydrating: file) { downloader.prefetch(request) }
    /// }
    /// ```
    ///
    /// The file goes to where it was, or beside it if another file has taken its name, and only if it has the recorded
    /// content: a server's newer version is a failure, ``DownloadError/Reason/wrongDigest(expected:actual:)``.
    ///
    /// - Parameter file: One that ``/PrefetchCaching/PrefetchCache/promotedFiles()`` returns as
    ///   ``/PrefetchCaching/PromotedFile/isLost``. Files that the user has moved or deleted are, too.
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
