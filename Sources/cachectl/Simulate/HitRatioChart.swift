internal import Foundation
internal import PrefetchCaching

/// Hit ratios over budgets, a line for each policy: a picture in SVG, in light and in dark.
struct HitRatioChart {
    let rows: [WhatIf]

    private static let (width, height) = (640.0, 360.0)
    private static let (left, right, top, bottom) = (56.0, 616.0, 48.0, 312.0)

    /// As in ``ReportStyle``.
    private static let style = """
        text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;fill:#566273}
        .page{fill:#fff}.grid{stroke:#dde2e9}.line{fill:none;stroke-width:2.5}.now{fill:none;stroke:#16202c}
        .lru{stroke:#2f6fdb}.value{stroke:#c77700}.sieve{stroke:#8a4fd0}.fifo{stroke:#0f8b8d}
        @media (prefers-color-scheme:dark){text{fill:#9eabbb}.page{fill:#1b2129}.grid{stroke:#2d3641}.now{stroke:#e8edf3}
        .lru{stroke:#6ea5ff}.value{stroke:#f0a63a}.sieve{stroke:#b98bf2}.fifo{stroke:#3cc1bd}}
        """

    private struct Point {
        let x: Double
        let y: Double

        var text: String { String(format: "%.1f,%.1f", x, y) }
    }

    var svg: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img">
        <title>Hit ratio by budget and policy</title>
        <desc>\(HTML.text(description))</desc>
        <style>\(Self.style)</style>
        <rect class="page" width="100%" height="100%"/>
        \((grid + budgets + lines + legend).joined(separator: "\n"))
        </svg>

        """
    }

    /// For screen readers.
    private var description: String {
        rows.map { row in
            let ratio = row.hitRatio.map { "\(Int(($0 * 100).rounded())) %" } ?? "nothing wanted"
            return "\(Size.text(row.setting.budget.bytes)) \(row.setting.policy.rawValue): \(ratio)"
                + (row.isCurrent ? " (in force)" : "")
        }.joined(separator: "; ")
    }

    private var sizes: [Int64] { Set(rows.map(\.setting.budget.bytes)).sorted() }

    /// Twice the budget is the same distance everywhere.
    private func x(_ budget: Int64) -> Double {
        guard let first = sizes.first, let last = sizes.last, first < last else {
            return (Self.left + Self.right) / 2
        }
        let share = log(Double(budget) / Double(first)) / log(Double(last) / Double(first))
        return Self.left + 24 + share * (Self.right - Self.left - 48)
    }

    private func y(_ ratio: Double) -> Double { Self.bottom - ratio * (Self.bottom - Self.top) }

    private var grid: [String] {
        [0, 25, 50, 75, 100].flatMap { percent in
            let y = String(format: "%.1f", y(Double(percent) / 100))
            return [
                "<path class=\"grid\" d=\"M\(Int(Self.left)) \(y)H\(Int(Self.right))\"/>",
                "<text x=\"\(Int(Self.left) - 8)\" y=\"\(y)\" dy=\"4\" text-anchor=\"end\">\(percent) %</text>",
            ]
        }
    }

    /// As many as fit beside each other.
    private var budgets: [String] {
        var end = -Double.infinity
        return sizes.compactMap { size in
            let x = x(size)
            guard x > end else { return nil }
            end = x + 72
            return "<text x=\"\(String(format: "%.1f", x))\" y=\"\(Int(Self.bottom) + 24)\" "
                + "text-anchor=\"middle\">\(HTML.text(Size.text(size)))</text>"
        }
    }

    private var policies: [EvictionPolicyChoice] {
        EvictionPolicyChoice.allCases.filter { policy in rows.contains { $0.setting.policy == policy } }
    }

    private func point(of row: WhatIf) -> Point? {
        row.hitRatio.map { Point(x: x(row.setting.budget.bytes), y: y($0)) }
    }

    private var lines: [String] {
        let lines = policies.flatMap { policy in
            let points = rows.filter { $0.setting.policy == policy }.compactMap(point)
            let dots = points.map { Self.circle("line \(policy.rawValue)", at: $0, radius: 3) }
            guard points.count > 1 else { return dots }
            let path = points.map(\.text).joined(separator: " ")
            return ["<polyline class=\"line \(policy.rawValue)\" points=\"\(path)\"/>"] + dots
        }
        return lines
            + rows.filter(\.isCurrent).compactMap(point).map { Self.circle("now", at: $0, radius: 8) }
    }

    private static func circle(_ style: String, at point: Point, radius: Int) -> String {
        String(
            format: "<circle class=\"%@\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>", style, point.x, point.y, radius
        )
    }

    private var legend: [String] {
        let names = policies.enumerated().flatMap { number, policy in
            let x = Int(Self.left) + number * 88
            return [
                "<path class=\"line \(policy.rawValue)\" d=\"M\(x) 24h20\"/>",
                "<text x=\"\(x + 26)\" y=\"28\">\(policy.rawValue)</text>",
            ]
        }
        guard rows.contains(where: \.isCurrent) else { return names }
        let x = Double(Int(Self.left) + policies.count * 88 + 10)
        return names + [
            Self.circle("now", at: Point(x: x, y: 24), radius: 8),
            "<text x=\"\(Int(x) + 16)\" y=\"28\">in force</text>",
        ]
    }
}
