public import PrefetchCache

/// Something that happened to a download.
public enum DownloadEvent: Hashable, Sendable {
    /// The server is being asked: comes once more with every try.
    case started
    /// The download goes on after that many bytes of an earlier one.
    case resumed(at: Int64)
    case progress(DownloadProgress)
    /// A try failed, and there will be another one.
    case retrying(after: Duration, DownloadError)
    /// Always the last.
    case finished(DownloadOutcome)
}

/// How far a download has come.
public struct DownloadProgress: Hashable, Sendable {
    /// Bytes of the content that are with the operating system, those of an earlier download among them.
    public let completedBytes: Int64
    /// Bytes of the content; `nil` when the server does not tell.
    public let totalBytes: Int64?

    public init(completedBytes: Int64, totalBytes: Int64?) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}

/// What became of a download.
public enum DownloadOutcome: Hashable, Sendable {
    case stored(ItemSummary)
    /// The user had asked for it: it went straight to its destination.
    case delivered(OpenedItem)
    /// The cache has the server's version.
    case notModified
    /// The cache has it, with the digest that was expected if one was, and the server was not asked.
    case alreadyCached
    /// The user has opened it; nothing was downloaded.
    case alreadyPromoted(OpenedItem)
    /// The cache did not take it. Nothing was downloaded, unless space ran short meanwhile. `keptLength` bytes
    /// of it are kept, after which a later download of the key goes on.
    case refused(Refusal, keptLength: Int64)
    /// Nobody wants it any more. `keptLength` bytes are kept, after which a later download of the key goes on.
    case cancelled(keptLength: Int64)
    case failed(DownloadError)
}
