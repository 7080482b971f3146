public import PrefetchCache

/// Something that happened to a download.
public enum DownloadEvent: Hashable, Sendable {
    /// An attempt begins; the server may turn out not to be needed.
    case started
    /// The download resumes after this many bytes of an earlier one.
    case resumed(at: Int64)
    /// More of the content was stored.
    case progress(DownloadProgress)
    /// An attempt failed, and another one follows after this time.
    case retrying(after: Duration, DownloadError)
    /// The download ended. Always the last event.
    case finished(DownloadOutcome)
}

/// How far a download has come.
public struct DownloadProgress: Hashable, Sendable {
    /// Bytes of content that were written to the cache, including those of an earlier download.
    public let completedBytes: Int64
    /// Bytes of the whole content; `nil` if the server does not report them.
    public let totalBytes: Int64?

    /// Creates a progress from its parts.
    public init(completedBytes: Int64, totalBytes: Int64?) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}

/// The outcome of a download.
public enum DownloadOutcome: Hashable, Sendable {
    /// The content was downloaded and cached.
    case stored(ItemSummary)
    /// The user had asked for the content, which went straight to its destination.
    case delivered(OpenedItem)
    /// The cache has the server's version.
    case notModified
    /// The content is cached, with the expected digest if there is one. The server was not contacted.
    case alreadyCached
    /// The user has opened the key; nothing was downloaded.
    case alreadyPromoted(OpenedItem)
    /// The cache refused the content. Nothing was downloaded, unless space ran short meanwhile. `keptLength`
    /// bytes of content are kept, after which a later download of the key resumes.
    case refused(Refusal, keptLength: Int64)
    /// The download is no longer wanted. `keptLength` bytes of content are kept, after which a later download
    /// of the key resumes.
    case cancelled(keptLength: Int64)
    /// The download failed.
    case failed(DownloadError)
}
