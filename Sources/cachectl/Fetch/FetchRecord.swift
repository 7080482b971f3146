internal import PrefetchCache
internal import PrefetchDownloader
internal import SystemPackage

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An event of a download, as JSON. Values that the event does not have are left out.
struct FetchRecord: Encodable {
    let event: String
    let key: String
    /// Without user and password.
    let url: String
    var completedBytes: Int64?
    var totalBytes: Int64?
    var waitMilliseconds: Int64?
    var outcome: String?
    var contentBytes: Int64?
    var storedBytes: Int64?
    var encoding: String?
    var path: PathRecord?
    /// The reason of a refusal.
    var refused: String?
    /// Bytes after which a later download resumes.
    var keptBytes: Int64?
    var message: String?
    var exitCode: Int32?

    init(_ event: DownloadEvent, of target: FetchTarget, _ failure: CommandFailure?) {
        self.event = event.name
        key = target.key.string
        url = target.url.absoluteString
        switch event {
        case .started: break
        case .resumed(let offset): completedBytes = offset
        case .progress(let progress):
            completedBytes = progress.completedBytes
            totalBytes = progress.totalBytes
        case .retrying(let delay, let error):
            let (seconds, attoseconds) = delay.components
            waitMilliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            message = error.description
        case .finished(let outcome): fill(in: outcome)
        }
        if let failure {
            message = failure.message
            exitCode = failure.code.rawValue
        }
    }

    private mutating func fill(in outcome: DownloadOutcome) {
        self.outcome = outcome.name
        switch outcome {
        case .stored(let summary):
            contentBytes = summary.contentLength
            storedBytes = summary.storedLength
            encoding = summary.encoding.name
        case .delivered(let item), .alreadyPromoted(let item):
            contentBytes = item.contentLength
            path = PathRecord(item.path)
        case .notModified, .alreadyCached: break
        case .refused(let refusal, let kept):
            refused = refusal.reason
            keptBytes = kept
        case .cancelled(let kept): keptBytes = kept
        case .failed(let error): keptBytes = error.keptLength
        }
    }
}

extension DownloadEvent {
    fileprivate var name: String {
        switch self {
        case .started: "started"
        case .resumed: "resumed"
        case .progress: "progress"
        case .retrying: "retrying"
        case .finished: "finished"
        }
    }
}

extension DownloadOutcome {
    fileprivate var name: String {
        switch self {
        case .stored: "stored"
        case .delivered: "delivered"
        case .notModified: "notModified"
        case .alreadyCached: "alreadyCached"
        case .alreadyPromoted: "alreadyPromoted"
        case .refused: "refused"
        case .cancelled: "cancelled"
        case .failed: "failed"
        }
    }
}
