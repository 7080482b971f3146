internal import ArgumentParser
internal import PrefetchCache
internal import Synchronization

/// `cachectl verify`
struct Verify: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads every byte of the cache and of opened files, and compares checksums.",
        discussion: Examples.verify.discussion(
            """
            Nothing is changed, and nothing counts as used, unless --repair is given: damaged items are then set \
            aside, as they would be when the app reads them. An opened file is the user's: a changed one is \
            distinguished from a damaged one, and neither is touched. Ctrl-C ends the command early and prints the \
            findings so far. The exit code is 65 when something is damaged.
            """))

    @Option(help: ArgumentHelp("Verify only this many files, chosen at random.", valueName: "count"))
    var sample: Int?

    @Option(
        help: ArgumentHelp("Seed of --sample: the same seed selects the same files.", valueName: "number"))
    var seed: UInt64?

    @Flag(help: "Set damaged items aside.")
    var repair = false

    @OptionGroup var shared: SharedOptions

    var settlesAtOpening: Bool { repair }
    var onlyLooks: Bool { !repair }

    func validate() throws {
        if let sample, sample < 1 { throw ValidationError("--sample must be at least 1") }
        if seed != nil, sample == nil { throw ValidationError("--seed requires --sample") }
    }

    func perform(in session: Session) async throws {
        let request = VerificationRequest(
            sample: sample, seed: sample == nil ? 0 : seed ?? .random(in: 0...999_999), isRepairing: repair)
        let cache = session.cache
        let progress = session.output.isQuiet ? nil : VerifyingProgress.onTerminal()
        let work = Task { try await cache.verify(request) { progress?.show($0) } }
        let watch = InterruptionWatch { work.cancel() }
        let result = await work.result
        watch.end()
        progress?.clear()
        let report = try result.get()
        if session.output.isJSON {
            try session.output.print(json: VerificationRecord(report, request, in: session.place))
        } else {
            for line in VerificationTable(report, request, in: session.place).lines {
                try session.output.print(line)
            }
        }
        if let failure = CommandFailure(report, endedBy: watch.firstSignal) { throw failure }
    }
}

extension CommandFailure {
    /// `nil` when nothing is wrong.
    init?(_ report: VerificationReport, endedBy signal: CInt?) {
        if report.damaged > 0 {
            let advice =
                report.damaged == report.setAside
                ? "they were set aside; store them again"
                : "'cachectl verify --repair' sets damaged items aside; an opened file must be downloaded again: "
                    + "'cachectl forget' its key, and store it again"
            self.init(.damaged, "damaged: \(report.damaged); \(advice)")
        } else if report.unreadable > 0 {
            self.init(.inputOutput, "unreadable: \(report.unreadable); see above, and check the volume")
        } else if !report.isComplete {
            self.init(.ended(by: signal ?? 2), "interrupted before everything was verified")
        } else {
            return nil
        }
    }
}

/// Shows the progress of a verification on a terminal. Its threads call this.
private final class VerifyingProgress: Sendable {
    private let line = Mutex<ProgressLine?>(nil)

    /// `nil` when standard error is not a terminal.
    static func onTerminal() -> VerifyingProgress? {
        StandardStreams.isErrorTerminal ? VerifyingProgress() : nil
    }

    func show(_ progress: VerificationProgress) {
        let (done, total) =
            progress.totalBytes.map { (progress.bytes, $0) } ?? (
                Int64(progress.files), Int64(progress.totalFiles)
            )
        guard total > 0 else { return }
        line.withLock { line in
            var current =
                line
                ?? ProgressLine(label: "verifying", total: total) { StandardStreams.writeErrorVerbatim($0) }
            current.show(done)
            line = current
        }
    }

    func clear() {
        line.withLock { $0?.clear() }
    }
}
