internal import PrefetchCache
internal import PrefetchDownloader

extension CommandFailure {
    /// `nil` for an outcome that is not a failure.
    init?(_ outcome: DownloadOutcome, of target: FetchTarget) {
        switch outcome {
        case .stored, .delivered, .notModified, .alreadyCached, .alreadyPromoted: return nil
        case .refused(let refusal, let kept):
            let failure = CommandFailure(refusal, of: target.key)
            self.init(failure.code, (failure.message ?? "") + Self.remark(onKept: kept))
        case .cancelled(let kept):
            self.init(.interrupted, "'\(target.key)' was interrupted\(Self.remark(onKept: kept))")
        case .failed(let error):
            self.init(ExitCode(error.reason), error.description + Self.advice(on: error.reason))
        }
    }

    private static func remark(onKept length: Int64) -> String {
        length > 0 ? "; \(Size.text(length)) are kept, and the next 'fetch' resumes after them" : ""
    }

    private static func advice(on reason: DownloadError.Reason) -> String {
        switch reason {
        case .insecure: ": --allow-insecure"
        case .hostNotAllowed: ""
        case .redirect: "; --allow-host allows another host"
        case .status(401, _), .status(403, _):
            "; user and password can be given in the URL: https://user:password@host/…"
        case .unmarkedEnd: "; a list of --from-file takes the SHA-256 as its third column"
        case .cache(let error): advice(on: error)
        default: ""
        }
    }
}

extension ExitCode {
    init(_ reason: DownloadError.Reason) {
        self =
            switch reason {
            case .unsupportedURL, .hostNotAllowed, .insecure: .usage
            case .wrongLength, .wrongDigest: .damaged
            case .cache(let error): ExitCode(error)
            case .tooManyRedirects, .redirect, .status, .connection, .stalled, .truncated, .tooLong,
                .wrongRange, .unmarkedEnd, .encoded, .partialGone:
                .unavailable
            }
    }

    /// The code of several failures: faults of the machine or of the content outweigh those that may be gone the next
    /// time.
    func graver(than other: ExitCode?) -> ExitCode {
        guard let other else { return self }
        return gravity > other.gravity ? self : other
    }

    private var gravity: Int {
        switch self {
        case .success: 0
        case .refused: 1
        case .unavailable: 2
        case .damaged: 3
        default: 4
        }
    }
}
