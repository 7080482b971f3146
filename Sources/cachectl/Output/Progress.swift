internal import Foundation
internal import PrefetchCaching
internal import Synchronization

/// Shows the progress of one job after the other on a terminal. Called by the worker threads.
final class WorkProgress: Sendable {
    /// In bytes. Smaller work finishes before a line could be read.
    static let smallestTotal: Int64 = 8 << 20

    private let board: Mutex<ProgressBoard>

    init(_ board: ProgressBoard) { self.board = Mutex(board) }

    /// `nil` when standard error is not a terminal.
    static func onTerminal() -> WorkProgress? { ProgressBoard.onTerminal().map { WorkProgress($0) } }

    func show(_ progress: OpenProgress) {
        guard progress.totalBytes > Self.smallestTotal else { return }
        show(progress.key.string, progress.completedBytes, of: progress.totalBytes)
    }

    func show(_ progress: VerificationProgress) {
        let done = progress.totalBytes == nil ? Int64(progress.files) : progress.bytes
        show("verifying", done, of: progress.totalBytes ?? Int64(progress.totalFiles))
    }

    func show(_ file: MigratedFile) {
        board.withLock { $0.draw([ProgressBoard.Job(label: file.path, text: "")]) }
    }

    private func show(_ label: String, _ done: Int64, of total: Int64) {
        guard total > 0 else { return }
        board.withLock { $0.draw([ProgressBoard.Job(label: label, text: Bar.text(done, of: total))]) }
    }

    func clear() { board.withLock { $0.clear() } }
}

/// Lines of progress on a terminal, redrawn in place and cleared when the work is done.
struct ProgressBoard: Sendable {
    struct Job: Sendable {
        let label: String
        let text: String

        init(label: String, text: String) {
            self.label = label.escapedForTerminal
            self.text = " " + text
        }
    }

    /// Faster updates would be unreadable.
    static let interval = Duration.milliseconds(100)

    private var drawnLines = 0
    private var lastDrawn: ContinuousClock.Instant?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let size: @Sendable () -> TerminalSize
    private let write: @Sendable (String) -> Void

    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant, size: @escaping @Sendable () -> TerminalSize,
        to write: @escaping @Sendable (String) -> Void
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

    /// Draws a line for each job and a footer, at most once per ``interval``.
    mutating func draw(_ jobs: [Job], footer: String? = nil) {
        let now = now()
        if let lastDrawn, now < lastDrawn + Self.interval { return }
        lastDrawn = now
        let size = size()
        // Lines that wrap or scroll off the screen cannot be redrawn.
        let texts =
            jobs.prefix(max(0, size.lines - 2)).map { job in
                // The end of a URL is more informative than its start.
                let label = job.label.suffix(columns: max(8, size.columns - 1 - job.text.count))
                return (label + job.text).prefix(columns: size.columns - 1)
            } + (footer.map { [$0.prefix(columns: size.columns - 1)] } ?? [])
        write(toTop + texts.map { "\($0)\u{1B}[K\n" }.joined() + "\u{1B}[J")
        drawnLines = texts.count
    }

    /// Removes everything drawn. The next ``draw(_:footer:)`` is immediate.
    mutating func clear() {
        guard drawnLines > 0 else { return }
        write(toTop + "\u{1B}[J")
        drawnLines = 0
        lastDrawn = nil
    }

    private var toTop: String { drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : "" }
}

struct TerminalSize: Hashable {
    var columns: Int
    var lines: Int
}

extension TerminalSize {
    /// The size of the terminal behind a descriptor; 80 × 24 if it does not report one.
    init(of descriptor: CInt) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        columns = isKnown ? Int(size.ws_col) : 80
        lines = isKnown ? Int(size.ws_row) : 24
    }
}
