/// A story on standard output, with claims that are checked while it is told.
package struct Report {
    package private(set) var failedChecks = 0
    private var steps = 0

    package mutating func step(_ title: String) {
        steps += 1
        print("\n\(steps). \(title)")
    }

    package func line(_ text: String) {
        print("   \(text)")
    }

    package func fact(_ name: String, _ value: String) {
        line(name + String(repeating: " ", count: max(0, 14 - name.count)) + " " + value)
    }

    /// Prints a claim and whether it holds. A false claim makes the program fail.
    package mutating func check(_ claim: String, _ holds: Bool) {
        if !holds { failedChecks += 1 }
        line("[\(holds ? "ok" : "WRONG")] \(claim)")
    }
}

/// A story cannot go on.
package struct StoryError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension Int64 {
    /// The number of bytes as text: `512 B`, `31.4 KiB`, `2.0 MiB`.
    package var asBytes: String {
        if self < 1024 { return "\(self) B" }
        let (unit, name): (Int64, String) = self < 1 << 20 ? (1 << 10, "KiB") : (1 << 20, "MiB")
        let tenths = (self * 10 + unit / 2) / unit
        return "\(tenths / 10).\(tenths % 10) \(name)"
    }

    /// Rounded up, so that more than the whole is never shown as 100.
    package func percent(of whole: Int64) -> Int64 {
        whole > 0 ? (self * 100 + whole - 1) / whole : 0
    }
}
