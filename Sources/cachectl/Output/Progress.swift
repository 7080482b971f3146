internal import Foundation
internal import PrefetchCaching
internal import Synchronization

/// A progress line on a terminal, cleared when the work is done.
struct ProgressLine {
    /// In bytes. Smaller work finishes before the line could be read.
    static let smallestTotal: Int64 = 8 << 20

    private let label: String
    private let total: Int64
    private var shownPercent: Int64 = -1
    private let size: @Sendable () -> TerminalSize
    private let write: @Sendable (String) -> Void

    init(
        label: String, total: Int64,
        size: @escaping @Sendable () -> TerminalSize = { TerminalSize(of: STDERR_FILENO) },
        to write: @escaping @Sendable (String) -> Void
    ) {
        self.label = label.escapedForTerminal
        self.total = total
        self.size = size
        self.write = write
    }

    mutating func show(_ done: Int64) {
        let percent = Bar.percent(done, of: total)
        guard percent != shownPercent else { return }
        shownPercent = percent
        // A wrapped line cannot be redrawn. The end of a URL is more informative than its start.
        let columns = size().columns - 1
        let bar = Bar.text(done, of: total)
        let text = "\(label.suffix(columns: max(8, columns - bar.count - 1))) \(bar)"
        write("\r\(text.prefix(columns: columns))\u{1B}[K")
    }

    func clear() {
        if shownPercent >= 0 { write("\r\u{1B}[K") }
    }
}

/// Shows the progress of consecutive jobs on a terminal. Called by the worker threads.
final class WorkProgress: Sendable {
    private let write: @Sendable (String) -> Void
    private let current = Mutex<(label: String, line: ProgressLine)?>(nil)

    init(to write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// `nil` when standard error is not a terminal.
    static func onTerminal() -> WorkProgress? {
        StandardStreams.isErrorTerminal ? WorkProgress { StandardStreams.writeErrorVerbatim($0) } : nil
    }

    func show(_ progress: OpenProgress) {
        guard progress.totalBytes > ProgressLine.smallestTotal else { return }
        show(progress.key.string, progress.completedBytes, of: progress.totalBytes)
    }

    func show(_ progress: VerificationProgress) {
        let done = progress.totalBytes == nil ? Int64(progress.files) : progress.bytes
        show("verifying", done, of: progress.totalBytes ?? Int64(progress.totalFiles))
    }

    func show(_ label: String, _ done: Int64, of total: Int64) {
        guard total > 0 else { return }
        current.withLock { current in
            var line =
                current.flatMap { $0.label == label ? $0.line : nil }
                ?? ProgressLine(label: label, total: total, to: write)
            line.show(done)
            current = (label, line)
        }
    }

    func clear() {
        current.withLock { current in
            current?.line.clear()
            current = nil
        }
    }
}

/// A stack of progress bars on a terminal for concurrent work, redrawn in place and cleared when the work is done.
struct ProgressBoard {
    private struct Job {
        let id: Int
        let label: String
        var done: Int64
        var total: Int64?
    }

    /// Faster updates would be unreadable.
    static let interval = Duration.milliseconds(100)

    private var jobs: [Job] = []
    private var drawnLines = 0
    private var lastDrawn: ContinuousClock.Instant?
    private let now: () -> ContinuousClock.Instant
    private let size: () -> TerminalSize
    private let write: (String) -> Void

    init(
        now: @escaping () -> ContinuousClock.Instant, size: @escaping () -> TerminalSize,
        to write: @escaping (String) -> Void
    ) {
        self.now = now
        self.size = size
        self.write = write
    }

    /// `nil` when standard error is not a terminal.
    static func onTerminal() -> ProgressBoard? {
        guard StandardStreams.isErrorTerminal else { return nil }
        return ProgressBoard(now: { .now }, size: { TerminalSize(of: STDERR_FILENO) }) {
            StandardStreams.writeErrorVerbatim($0)
        }
    }

    mutating func show(_ id: Int, _ label: String, _ done: Int64, of total: Int64?) {
        if let index = jobs.firstIndex(where: { $0.id == id }) {
            (jobs[index].done, jobs[index].total) = (done, total)
        } else {
            jobs.append(Job(id: id, label: label.escapedForTerminal, done: done, total: total))
        }
    }

    mutating func remove(_ id: Int) { jobs.removeAll { $0.id == id } }

    /// Draws all bars and a footer, at most once per ``interval``.
    mutating func draw(footer: String) {
        let now = now()
        if let lastDrawn, now < lastDrawn + Self.interval { return }
        lastDrawn = now
        let size = size()
        // Lines that wrap or scroll off the screen cannot be redrawn.
        let texts =
            jobs.prefix(max(0, size.lines - 2)).map { Self.text($0, columns: size.columns - 1) }
            + [footer.prefix(columns: size.columns - 1)]
        write(toTop + texts.map { "\($0)\u{1B}[K\n" }.joined() + "\u{1B}[J")
        drawnLines = texts.count
    }

    /// Removes everything drawn. The next ``draw(footer:)`` is immediate.
    mutating func clear() {
        guard drawnLines > 0 else { return }
        write(toTop + "\u{1B}[J")
        drawnLines = 0
        lastDrawn = nil
    }

    private var toTop: String { drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : "" }

    private static func text(_ job: Job, columns: Int) -> String {
        let done = Size.text(job.done)
        let rest =
            job.total.map { " \(Bar.text(job.done, of: $0)), \(done) of \(Size.text($0))" } ?? " \(done)"
        // The end of a URL is more informative than its start.
        let label = job.label.suffix(columns: max(8, columns - rest.count))
        return (label + rest).prefix(columns: columns)
    }
}
