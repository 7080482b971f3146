internal import FileSystem
internal import PrefetchCache
internal import PrefetchDownloader
internal import SystemPackage

/// Reports the events of downloads: as bars on a terminal, a line for each finished download, or JSON.
struct FetchReport {
    private let targets: [FetchTarget]
    private let output: Output
    private var board: ProgressBoard?
    private var steps: [Int: ProgressSteps] = [:]
    private var finished = 0
    private var failed = 0
    /// The exit code so far; `nil` when nothing failed.
    private(set) var code: ExitCode?

    init(_ targets: [FetchTarget], to output: Output, board: ProgressBoard?) {
        self.targets = targets
        self.output = output
        self.board = board
    }

    /// The failure that ends the command, if any; the items were reported one by one.
    var failure: CommandFailure? {
        code.map { CommandFailure($0, output.isJSON ? "\(failed) of \(targets.count) items failed" : nil) }
    }

    var showsProgress: Bool { output.isJSON || board != nil }

    mutating func take(_ event: DownloadEvent, of index: Int) throws {
        let target = targets[index]
        var failure: CommandFailure?
        if case .finished(let outcome) = event {
            finished += 1
            steps[index] = nil
            failure = CommandFailure(outcome, of: target)
            board?.clear()
        }
        if output.isJSON {
            if isWorthALine(event, of: index) {
                try output.print(jsonLine: FetchRecord(event, of: target, failure))
            }
        } else if case .finished(.delivered(let item)) = event {
            // Verbatim, as 'put --requested' prints it.
            try output.print(item.path)
        } else if case .finished(let outcome) = event, let line = FetchLine.text(of: outcome, target) {
            try output.confirm(line)
        }
        // At once, for a reader that follows.
        try output.flush()
        if let failure {
            // In JSON the event contains the failure.
            if !output.isJSON { failure.report(asJSON: false) }
            code = failure.code.graver(than: code)
            failed += 1
        }
        show(event, of: index)
    }

    mutating func clear() {
        board?.clear()
    }

    private mutating func isWorthALine(_ event: DownloadEvent, of index: Int) -> Bool {
        guard case .progress(let progress) = event else { return true }
        return steps[index, default: ProgressSteps()].isNew(progress)
    }

    private mutating func show(_ event: DownloadEvent, of index: Int) {
        let label = targets[index].key.string
        let footer = "\(finished) of \(targets.count) done"
        switch event {
        case .progress(let progress):
            board?.show(index, label, progress.completedBytes, of: progress.totalBytes)
        case .retrying, .finished: board?.remove(index)
        case .started, .resumed: break
        }
        board?.draw(footer: footer)
    }
}

/// Thins out progress: once per percent, or per mebibyte when the total is unknown.
struct ProgressSteps {
    private var last: Int64 = -1

    mutating func isNew(_ progress: DownloadProgress) -> Bool {
        let step =
            progress.totalBytes.map { Bar.percent(progress.completedBytes, of: $0) }
            ?? progress.completedBytes >> 20
        defer { last = step }
        return step != last
    }
}

/// The line about a finished download.
enum FetchLine {
    /// `nil` for an outcome that is reported in another way.
    static func text(of outcome: DownloadOutcome, _ target: FetchTarget) -> String? {
        let key = target.key.string.escapedForTerminal
        switch outcome {
        case .stored(let summary):
            let content = Size.text(summary.contentLength)
            let stored = Size.text(summary.storedLength)
            return "stored \(key): \(content) as \(stored) (\(summary.encoding.name))"
        case .notModified: return "unchanged \(key)"
        case .alreadyCached: return "kept \(key)"
        case .alreadyPromoted(let item):
            return "opened before \(key): \(item.path.displayText.escapedForTerminal)"
        case .delivered, .refused, .cancelled, .failed: return nil
        }
    }
}
