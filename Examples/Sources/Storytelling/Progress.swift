/// One line on the terminal that shows the progress of work; silent without a terminal.
package struct Progress {
    private let label: String
    private let total: Int

    package init(label: String, total: Int) {
        self.label = label
        self.total = total
    }

    package func show(_ done: Int) {
        write("\r\(label) \(Bar.text(Int64(done), of: Int64(total)))\u{1B}[K")
    }

    package func clear() {
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        if StandardError.isTerminal { StandardError.write(text) }
    }
}
