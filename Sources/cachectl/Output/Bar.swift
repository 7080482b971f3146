/// How much of a whole is used: `[#####-----] 48 %`.
enum Bar {
    static let width = 10

    /// - Returns: A full bar only when all of it is used.
    static func text(_ part: Int64, of whole: Int64) -> String {
        let filled = cells(part, of: whole)
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        return "[\(bar)] \(percent(part, of: whole)) %"
    }

    /// Rounded down, so that 100 means all.
    static func percent(_ part: Int64, of whole: Int64) -> Int64 {
        guard whole > 0 else { return part > 0 ? 100 : 0 }
        return Int64(clamping: Int128(max(part, 0)) * 100 / Int128(whole))
    }

    private static func cells(_ part: Int64, of whole: Int64) -> Int {
        let percent = percent(part, of: whole)
        if percent >= 100 { return width }
        return min(Int((percent * Int64(width) + 50) / 100), width - 1)
    }
}
