import Foundation

/// One line on the terminal that says how far a program has come; silent where nobody watches.
public struct ProgressLine: Sendable {
    public let isShown = isatty(STDERR_FILENO) == 1

    public init() {}

    public func show(_ text: String) {
        write("\r\u{1B}[K\(text)")
    }

    public func clear() {
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        if isShown { FileHandle.standardError.write(Data(text.utf8)) }
    }
}
