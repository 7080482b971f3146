import Foundation

/// A chart of horizontal bars in groups, as an SVG picture for light and dark pages.
///
/// The scale is logarithmic, and bars begin at 1: to the right for what is more than the floor, to the left for
/// what is less.
struct BarChart {
    struct Bar {
        let label: String
        /// A multiple of the floor.
        let value: Double
        let isOurs: Bool
    }

    struct Group {
        let title: String
        let bars: [Bar]
    }

    let title: String
    let groups: [Group]

    private static let width = 760.0
    private static let plot = (left: 190.0, right: 690.0)
    private static let bar = (height: 14.0, pitch: 19.0)
    private static let top = 66.0

    var svg: String {
        let scale = Scale(groups.flatMap(\.bars).map(\.value), from: Self.plot.left, to: Self.plot.right)
        var y = Self.top
        var body = ""
        for group in groups {
            body += text(x: 16, y: y + 12, "group", group.title)
            y += 20
            for bar in group.bars {
                body += draw(bar, at: y, scale)
                y += Self.bar.pitch
            }
            y += 14
        }
        let bottom = y - 8
        let height = bottom + 30
        let grid = scale.powers.map { power in
            let x = scale.x(power)
            return line(x: x, from: Self.top, to: bottom, power == 1 ? "floor" : "grid")
                + text(x: x, y: bottom + 16, "tick", power == 1 ? "floor" : "×\(Self.number(power))")
        }.joined()
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.number(Self.width)) \(Self.number(height))" \
            width="\(Self.number(Self.width))" height="\(Self.number(height))" \
            role="img" aria-label="\(Self.escaped(title))">
            \(Self.style)
            <rect class="page" width="100%" height="100%"/>
            \(text(x: 16, y: 26, "title", title))\
            \(text(x: 16, y: 46, "note", "Time or space per item as a multiple of the floor, logarithmic: further left is less."))\
            \(grid)\(body)</svg>

            """
    }

    private func draw(_ bar: Bar, at y: Double, _ scale: Scale) -> String {
        let (start, end) = (scale.x(1), scale.x(bar.value))
        let kind = bar.isOurs ? "ours" : "peer"
        let middle = y + Self.bar.height - 3
        // Beside the bar, where it does not run into the labels.
        return text(x: Self.plot.left - 10, y: middle, "label \(kind)", bar.label) + """
            <rect class="bar \(kind)" x="\(Self.number(min(start, end)))" y="\(Self.number(y))" \
            width="\(Self.number(max(1, abs(end - start))))" height="\(Self.number(Self.bar.height))" rx="2"/>

            """ + text(x: max(start, end) + 6, y: middle, "value", TableReport.multiple(bar.value))
    }

    private func line(x: Double, from top: Double, to bottom: Double, _ kind: String) -> String {
        """
        <line class="\(kind)" x1="\(Self.number(x))" x2="\(Self.number(x))" \
        y1="\(Self.number(top))" y2="\(Self.number(bottom))"/>

        """
    }

    private func text(x: Double, y: Double, _ kind: String, _ content: String) -> String {
        "<text class=\"\(kind)\" x=\"\(Self.number(x))\" y=\"\(Self.number(y))\">\(Self.escaped(content))</text>\n"
    }

    private static func number(_ value: Double) -> String {
        let rounded = (value * 100).rounded() / 100
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }

    private static let style = """
        <style>
        .page { fill: #ffffff } text { font: 12px system-ui, sans-serif; fill: #1f2328 }
        .title { font-size: 16px; font-weight: 600 } .group { font-weight: 600 }
        .label { text-anchor: end } .label.ours { font-weight: 600 } .tick { text-anchor: middle }
        .note, .tick, .value { fill: #59636e }
        .grid { stroke: #d1d9e0 } .floor { stroke: #59636e }
        .value { paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
        .bar.ours { fill: #0969da } .bar.peer { fill: #9aa4af }
        @media (prefers-color-scheme: dark) {
        .page { fill: #0d1117 } text { fill: #f0f6fc }
        .note, .tick, .value { fill: #9198a1 }
        .grid { stroke: #3d444d } .floor { stroke: #9198a1 }
        .value { stroke: #0d1117 }
        .bar.ours { fill: #4493f8 } .bar.peer { fill: #656c76 }
        }
        </style>
        """
}

extension BarChart {
    /// From values to places, by their logarithms, with whole powers of ten at both ends.
    private struct Scale {
        let powers: [Double]
        private let first: Double
        private let last: Double
        private let left: Double
        private let right: Double

        init(_ values: [Double], from left: Double, to right: Double) {
            let exponents = values.filter { $0 > 0 }.map(log10) + [0]
            first = (exponents.min() ?? 0).rounded(.down)
            last = max((exponents.max() ?? 0).rounded(.up), first + 1)
            powers = (Int(first)...Int(last)).map { pow(10, Double($0)) }
            self.left = left
            self.right = right
        }

        func x(_ value: Double) -> Double {
            left + (right - left) * (log10(value) - first) / (last - first)
        }
    }
}
