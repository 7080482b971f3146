#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Bars on a terminal, one below the other, for concurrent work: redrawn in place, and removed when the work is
/// done.
struct ProgressBoard {
    private struct Bar {
        let id: Int
        let label: String
        var done: Int64
        var total: Int64?
    }

    /// Faster changes cannot be read.
    static let interval = Duration.milliseconds(100)

    private var bars: [Bar] = []
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
        if let index = bars.firstIndex(where: { $0.id == id }) {
            bars[index].done = done
            bars[index].total = total
        } else {
            bars.append(Bar(id: id, label: label.escapedForTerminal, done: done, total: total))
        }
    }

    mutating func remove(_ id: Int) {
        bars.removeAll { $0.id == id }
    }

    /// Draws all bars and a line below them, at most once per ``interval``.
    mutating func draw(footer: String) {
        let now = now()
        if let lastDrawn, now < lastDrawn + Self.interval { return }
        lastDrawn = now
        let size = size()
        // A line that the terminal wraps or scrolls away cannot be redrawn.
        let texts =
            bars.prefix(max(0, size.lines - 2)).map { Self.text($0, columns: size.columns - 1) }
            + [footer.prefix(columns: size.columns - 1)]
        write(toTop + texts.map { "\($0)\u{1B}[K\n" }.joined() + "\u{1B}[J")
        drawnLines = texts.count
    }

    /// Leaves the terminal as it was. The next drawing is immediate.
    mutating func clear() {
        guard drawnLines > 0 else { return }
        write(toTop + "\u{1B}[J")
        drawnLines = 0
        lastDrawn = nil
    }

    private var toTop: String { drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : "" }

    private static func text(_ bar: Bar, columns: Int) -> String {
        let done = Size.text(bar.done)
        let rest =
            if let total = bar.total {
                " \(cachectl.Bar.text(bar.done, of: total)), \(done) of \(Size.text(total))"
            } else {
                " \(done)"
            }
        // The end of a URL says more than its beginning.
        let label = bar.label.suffix(columns: max(8, columns - rest.count))
        return (label + rest).prefix(columns: columns)
    }
}
