/// A story cannot go on.
package struct StoryError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The story as printed on standard output, with the result of its checks.
package struct Report {
    package private(set) var failedChecks = 0
    private var steps = 0

    package init() {}

    package mutating func step(_ title: String) {
        steps += 1
        print("\n\(steps). \(title)")
    }

    package func line(_ text: String) {
        print("   \(text)")
    }

    package func gap() {
        print("")
    }

    package func fact(_ name: String, _ value: String) {
        line("\(name.padded(to: 14, .left)) \(value)")
    }

    /// Prints a claim and whether it holds. A false claim makes the program fail.
    package mutating func check(_ claim: String, _ holds: Bool) {
        if !holds { failedChecks += 1 }
        line("[\(holds ? "ok" : "WRONG")] \(claim)")
    }

    /// Prints rows in columns, the first of which is a name and the others figures.
    package func table(_ rows: [[String]]) {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.compactMap { column < $0.count ? $0[column].count : nil }.max() ?? 0
        }
        for row in rows {
            let cells = zip(row, widths).enumerated().map { column, cell in
                cell.0.padded(to: cell.1, column == 0 ? .left : .right)
            }
            line(cells.joined(separator: "   "))
        }
    }
}
