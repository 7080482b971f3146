/// A line on a terminal that shows the progress of long work, and is removed when the work is done.
struct ProgressLine {
    /// Smaller work is done before the line could be read.
    static let smallestTotal: Int64 = 8 << 20

    private let label: String
    private let total: Int64
    private var shownPercent: Int64 = -1
    private let write: @Sendable (String) -> Void

    init(label: String, total: Int64, to write: @escaping @Sendable (String) -> Void) {
        self.label = label.escapedForTerminal
        self.total = total
        self.write = write
    }

    mutating func show(_ done: Int64) {
        let percent = Bar.percent(done, of: total)
        guard percent != shownPercent else { return }
        shownPercent = percent
        write("\r\(label) \(Bar.text(done, of: total))\u{1B}[K")
    }

    func clear() {
        if shownPercent >= 0 { write("\r\u{1B}[K") }
    }
}
