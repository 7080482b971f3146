/// A line on a terminal that shows how far a long piece of work has come, and goes when it is done.
struct ProgressLine {
    /// Shorter work is done before anybody could read the line.
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
