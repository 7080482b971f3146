/// One line on the terminal that shows how far a piece of work has come; silent where nobody watches.
struct Progress {
    let label: String
    let total: Int

    func show(_ done: Int) {
        write("\r\(label) \(Bar.text(Int64(done), of: Int64(total)))\u{1B}[K")
    }

    func clear() {
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        if StandardError.isTerminal { StandardError.write(text) }
    }
}
