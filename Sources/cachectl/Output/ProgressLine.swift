#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A line on a terminal that shows the progress of long work, and is removed when the work is done.
struct ProgressLine {
    /// Smaller work is done before the line could be read.
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
        // A line that the terminal wraps cannot be redrawn. The end of a URL says more than its beginning.
        let columns = size().columns - 1
        let bar = Bar.text(done, of: total)
        let text = "\(label.suffix(columns: max(8, columns - bar.count - 1))) \(bar)"
        write("\r\(text.prefix(columns: columns))\u{1B}[K")
    }

    func clear() {
        if shownPercent >= 0 { write("\r\u{1B}[K") }
    }
}
