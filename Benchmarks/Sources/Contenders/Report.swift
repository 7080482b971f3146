import Foundation

/// A table for a terminal: the first columns to the left, all others to the right.
///
/// - Precondition: `rows` is not empty, and all have as many cells.
public func textTable(_ rows: [[String]], leading: Int) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        zip(row, widths).enumerated().map { column, cell in
            let padding = String(repeating: " ", count: cell.1 - cell.0.count)
            return column < leading ? cell.0 + padding : padding + cell.0
        }.joined(separator: "  ")
    }.joined(separator: "\n")
}

public func byteCount(_ bytes: Int) -> String {
    bytes < 1 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
}

/// What this project has set itself, and whether a run held it.
public struct Target {
    public enum Bound: Sendable {
        case atMost(Double)
        case atLeast(Double)
    }

    private let name: String
    private let figure: Double
    private let bound: Bound
    private let note: String

    /// - Parameters:
    ///   - figure: As measured.
    ///   - note: What else is to be said of the figure.
    public init(_ name: String, _ figure: Double, _ bound: Bound, note: String = "") {
        (self.name, self.figure, self.bound, self.note) = (name, figure, bound, note)
    }

    private var cells: [String] {
        let (isHeld, text) =
            switch bound {
            case .atMost(let most): (figure <= most, "≤ \(most)")
            case .atLeast(let least): (figure >= least, "≥ \(least)")
            }
        return [name, isHeld ? "held" : "not held", note, String(format: "%.2f", figure), text]
    }

    public static func table(_ targets: [Target]) -> String {
        textTable([["target", "", "", "figure", "bound"]] + targets.map(\.cells), leading: 3)
    }
}

/// One line on the terminal that says how far a program has come; silent where nobody watches.
public struct ProgressLine: Sendable {
    private let isShown = isatty(STDERR_FILENO) == 1

    public init() {}

    public func show(_ text: String) { write("\r\u{1B}[K\(text)") }

    public func clear() { write("\r\u{1B}[K") }

    private func write(_ text: String) {
        if isShown { FileHandle.standardError.write(Data(text.utf8)) }
    }
}
