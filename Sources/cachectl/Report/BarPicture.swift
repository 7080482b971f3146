/// A bar as SVG, as wide as its place.
///
/// It holds no visible text: that is beside it, and in its title and description for screen readers.
struct BarPicture {
    struct Segment {
        /// A class of the style sheet.
        let style: String
        let amount: Int64
    }

    let title: String
    let description: String
    let segments: [Segment]
    /// The amount that the whole width stands for.
    let whole: Int64
    /// The amounts at which lines are drawn across the bar.
    var marks: [Int64] = []

    private static let width = 10_000

    /// - Parameter id: Unique on the page.
    func svg(id: String) -> String {
        var start = 0
        var shapes = ""
        for segment in segments where segment.amount > 0 {
            // Every amount is visible, however small.
            let width = min(max(position(segment.amount), 30), Self.width - start)
            guard width > 0 else { break }
            shapes +=
                "<rect class=\"\(segment.style)\" x=\"\(start)\" y=\"0\" width=\"\(width)\" height=\"10\"/>"
            start += width
        }
        for mark in marks {
            shapes +=
                "<rect class=\"mark\" x=\"\(max(0, position(mark) - 12))\" y=\"0\" width=\"24\" height=\"10\"/>"
        }
        return """
            <svg class="bar" viewBox="0 0 \(Self.width) 10" preserveAspectRatio="none" role="img" \
            aria-labelledby="\(id)-t \(id)-d"><title id="\(id)-t">\(HTML.text(title))</title>\
            <desc id="\(id)-d">\(HTML.text(description))</desc>\
            <rect class="track" x="0" y="0" width="\(Self.width)" height="10"/>\(shapes)</svg>
            """
    }

    private func position(_ amount: Int64) -> Int {
        guard whole > 0 else { return 0 }
        return Int(Int128(min(max(amount, 0), whole)) * Int128(Self.width) / Int128(whole))
    }
}
