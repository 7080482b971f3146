internal import Foundation
internal import PrefetchCaching
internal import PrefetchDownloading
internal import PrefetchFileSystem

/// Reports download events: as bars on a terminal, as one line per finished download, or as JSON.
struct FetchReport {
    private let targets: [FetchTarget]
    private let output: Output
    private var board: ProgressBoard?
    private var jobs: [Int: ProgressBoard.Job] = [:]
    /// The last progress printed for each download, in percent or mebibytes.
    private var steps: [Int: Int64] = [:]
    /// What a cancelled download ends with: a signal may have cancelled all.
    var codeOfCancelled = ExitCode.interrupted
    private var finished = 0
    private var failed = 0
    private let unusable: Int
    private var code: ExitCode?

    /// - Parameter failures: What could not become a download, reported at once.
    init(
        _ targets: [FetchTarget], after failures: [CommandFailure], to output: Output, board: ProgressBoard?
    ) {
        self.targets = targets
        self.output = output
        self.board = board
        unusable = failures.count
        for failure in failures {
            failure.report(asJSON: output.isJSON)
            code = failure.code.graver(than: code)
        }
    }

    /// The failure that ends the command, if any. Failed items have already been reported individually.
    var failure: CommandFailure? {
        code.map {
            CommandFailure(
                $0,
                output.isJSON
                    ? "\(failed + unusable) of \(Count.text(targets.count + unusable, "item")) failed" : nil)
        }
    }

    var showsProgress: Bool { output.isJSON || board != nil }

    mutating func take(_ event: DownloadEvent, of index: Int) throws {
        let target = targets[index]
        var (line, failure): (String?, CommandFailure?)
        if case .finished(let outcome) = event {
            finished += 1
            steps[index] = nil
            (_, line, failure) = outcome.parts(of: target.key, codeOfCancelled)
            board?.clear()
        }
        if output.isJSON {
            if isWorthALine(event, of: index) {
                try output.print(json: event.json(of: target, failure), isPretty: false)
            }
        } else if case .finished(.delivered(let item)) = event {
            // Verbatim, as 'put --requested' prints it.
            try output.print(verbatim: item.path.bytes)
        } else if let line {
            try output.confirm(line)
        } else if case .retrying(let delay, let error) = event, board != nil {
            board?.clear()
            let wait = Timespan.text(seconds: delay / .seconds(1))
            StandardStreams.writeError("cachectl: \(error); trying again in \(wait)")
        }
        // Unbuffered, for readers that process events as they arrive.
        try output.flush()
        if let failure {
            // JSON events contain the failure.
            if !output.isJSON { failure.report(asJSON: false) }
            code = failure.code.graver(than: code)
            failed += 1
        }
        show(event, of: index)
    }

    private mutating func isWorthALine(_ event: DownloadEvent, of index: Int) -> Bool {
        guard case .progress(let progress) = event else { return true }
        // Once per percent, or per mebibyte when the total is unknown.
        let step =
            progress.totalBytes.map { Bar.percent(progress.completedBytes, of: $0) }
            ?? progress.completedBytes >> 20
        return steps.updateValue(step, forKey: index) != step
    }

    private mutating func show(_ event: DownloadEvent, of index: Int) {
        guard board != nil else { return }
        switch event {
        case .progress(let progress):
            let done = Size.text(progress.completedBytes)
            let text =
                progress.totalBytes.map {
                    "\(Bar.text(progress.completedBytes, of: $0)), \(done) of \(Size.text($0))"
                } ?? done
            jobs[index] = ProgressBoard.Job(label: targets[index].key.string, text: text)
        case .retrying, .finished: jobs[index] = nil
        case .started, .resumed: break
        }
        let lines = jobs.sorted { $0.key < $1.key }.map(\.value)
        let footer = "\(finished) of \(targets.count) done"
        board?.draw(lines, footer: footer)
    }

    mutating func clear() { board?.clear() }
}

extension DownloadEvent {
    func json(of target: FetchTarget, _ failure: CommandFailure?) -> JSONObject {
        let (name, details): (String, JSONObject) =
            switch self {
            case .started: ("started", [:])
            case .resumed(let offset): ("resumed", ["completedBytes": offset])
            case .progress(let progress):
                ("progress", ["completedBytes": progress.completedBytes, "totalBytes": progress.totalBytes])
            case .retrying(let delay, let error):
                (
                    "retrying",
                    ["waitMilliseconds": Int64(delay / .milliseconds(1)), "message": error.description]
                )
            case .finished(let outcome): ("finished", outcome.parts(of: target.key, .interrupted).json)
            }
        // `FetchTarget.url` has no user and password.
        let event: JSONObject = ["event": name, "key": target.key.string, "url": target.url.absoluteString]
        guard let failure else { return event.adding(details) }
        return event.adding(details).adding(["message": failure.message, "exitCode": failure.code.rawValue])
    }
}

extension DownloadOutcome {
    /// The outcome as JSON, its confirmation unless it is reported differently, and its failure if it is one.
    fileprivate func parts(of key: ItemKey, _ codeOfCancelled: ExitCode)
        -> (json: JSONObject, line: String?, failure: CommandFailure?)
    {
        switch self {
        case .stored(let summary):
            let json: JSONObject = [
                "outcome": "stored", "contentBytes": summary.contentBytes,
                "storedBytes": summary.storedBytes, "encoding": summary.encoding.name,
            ]
            return (json, summary.confirmation(of: key), nil)
        case .delivered(let item):
            let json: JSONObject = [
                "outcome": "delivered", "contentBytes": item.contentBytes, "path": item.path.json,
            ]
            return (json, nil, nil)
        case .alreadyPromoted(let item):
            let json: JSONObject = [
                "outcome": "alreadyPromoted", "contentBytes": item.contentBytes, "path": item.path.json,
            ]
            return (json, "already opened \(key): \(item.path.displayText)", nil)
        case .notModified: return (["outcome": "notModified"], "unchanged \(key)", nil)
        case .alreadyCached: return (["outcome": "alreadyCached"], "kept \(key)", nil)
        case .refused(let refusal, let kept):
            let failure = CommandFailure(refusal, of: key)
            let json: JSONObject = ["outcome": "refused", "refused": refusal.reason, "keptBytes": kept]
            return (json, nil, CommandFailure(failure.code, (failure.message ?? "") + remark(onKept: kept)))
        case .postponed(let condition, let kept):
            let failure = CommandFailure(
                .refused, "'\(key)' is postponed, since \(condition)\(remark(onKept: kept))")
            let json: JSONObject = [
                "outcome": "postponed", "condition": condition.rawValue, "keptBytes": kept,
            ]
            return (json, nil, failure)
        case .cancelled(let kept):
            let failure = CommandFailure(codeOfCancelled, "'\(key)' was interrupted\(remark(onKept: kept))")
            return (["outcome": "cancelled", "keptBytes": kept], nil, failure)
        case .failed(let error):
            return (["outcome": "failed", "keptBytes": error.keptBytes], nil, CommandFailure(error))
        }
    }

    private func remark(onKept length: Int64) -> String {
        length > 0 ? "; \(Size.text(length)) were kept, where the next 'fetch' resumes if the server can" : ""
    }
}

extension CommandFailure {
    fileprivate init(_ error: DownloadError) {
        if case .insecure = error.reason {
            let message = "plain http to another machine is not allowed; use https, or --allow-insecure"
            self.init(.usage, "'\(error.key)' from \(error.origin): \(message)")
            return
        }
        let (code, advice): (ExitCode, String) =
            switch error.reason {
            case .unsupportedURL, .hostNotAllowed, .insecure, .bundleRequest: (.usage, "")
            case .wrongLength, .wrongDigest: (.damaged, "")
            case .cache(let error): (ExitCode(error), Self.advice(on: error))
            case .redirect: (.unavailable, "; --allow-host allows another host")
            case .status(401, _), .status(403, _):
                (.unavailable, "; user and password can be given in the URL: https://user:password@host/…")
            case .undelimitedBody:
                (.unavailable, "; a list of --from-file takes the SHA-256 as its third column")
            case .wrongMediaType: (.unavailable, "; --any-type stores it nevertheless")
            case .tooManyRedirects, .status, .connection, .stalled, .truncated, .tooLong, .wrongRange,
                .encoded, .undecodable, .expandsTooFar, .partialLost, .changed, .unknownLength:
                (.unavailable, "")
            }
        self.init(code, error.description + advice)
    }
}
