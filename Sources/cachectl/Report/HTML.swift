enum HTML {
    /// Escapes markup, control characters and bidirectional controls in untrusted text.
    static func text(_ text: String) -> String {
        text.escapedForTerminal.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            // Noncharacters are not allowed in HTML.
            case "\u{FFFE}", "\u{FFFF}": "\u{FFFD}"
            default: String(scalar)
            }
        }.joined()
    }

    /// Escapes an untrusted name, and isolates its writing direction from the surrounding text.
    static func name(_ name: String) -> String { "<bdi>\(text(name))</bdi>" }
}

/// A bar as SVG that fills the width of its container.
///
/// It contains no visible text: its title and description are for screen readers.
struct BarPicture {
    struct Segment {
        let style: String
        let amount: Int64
    }

    let title: String
    let description: String
    let segments: [Segment]
    /// The amount that corresponds to the full width.
    let whole: Int64
    /// The amounts at which lines are drawn across the bar.
    var marks: [Int64] = []

    private static let width = 10_000

    /// - Parameter id: Unique on the page.
    func svg(id: String) -> String {
        var start = 0
        var shapes = ""
        for segment in segments where segment.amount > 0 {
            // Small amounts get a minimum width, so that they stay visible.
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

/// The style sheet of a report: follows the browser's light or dark mode, and fits any width and print.
enum ReportStyle {
    /// Segment colours have a contrast of 3:1 against the page and are safe for red-green colour blindness. Names and
    /// numbers accompany them anyway.
    static let css = """
        :root{--page:#f6f7f9;--card:#fff;--ink:#16202c;--soft:#566273;--line:#dde2e9;--track:#e6eaf0;
        --s1:#2f6fdb;--s2:#c77700;--s3:#8a4fd0;--s4:#0f8b8d;--s5:#8590a1;--mark:#16202c}
        @media (prefers-color-scheme:dark){:root{--page:#12161c;--card:#1b2129;--ink:#e8edf3;--soft:#9eabbb;
        --line:#2d3641;--track:#2b333e;--s1:#6ea5ff;--s2:#f0a63a;--s3:#b98bf2;--s4:#3cc1bd;--s5:#7b8798;--mark:#e8edf3}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:76rem;padding:1.5rem 1rem 3rem;background:var(--page);color:var(--ink);
        font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;
        font-variant-numeric:tabular-nums}
        h1{font-size:1.6rem;line-height:1.2;margin:0}
        h2{font-size:1.05rem;margin:0 0 .25rem}
        p{margin:0 0 .6rem}
        .sub,.note,footer,.empty{color:var(--soft)}
        .sub{margin:.15rem 0 1.25rem;overflow-wrap:anywhere}
        .note{font-size:.875rem;margin:.6rem 0 0}
        footer{font-size:.875rem;margin-top:1.5rem}
        .card,.tile{background:var(--card);border:1px solid var(--line);border-radius:.75rem}
        .card{padding:1rem 1.15rem;margin:0 0 1rem}
        .grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(30rem,100%),1fr));gap:0 1rem}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:0 0 1rem}
        .tile{padding:.7rem .9rem}
        .tile dt{color:var(--soft);font-size:.875rem}
        .tile dd{margin:0;font-size:1.45rem;font-weight:650;line-height:1.25}
        .tile span{display:block;font-size:.8125rem;font-weight:400;color:var(--soft);overflow-wrap:anywhere}
        svg.bar{display:block;width:100%;height:.7rem;border-radius:.35rem;overflow:hidden}
        .card>svg.bar{height:1.35rem;border-radius:.45rem;margin:.35rem 0 .7rem}
        .track{fill:var(--track);background:var(--track)}
        .s1{fill:var(--s1);background:var(--s1)}.s2{fill:var(--s2);background:var(--s2)}
        .s3{fill:var(--s3);background:var(--s3)}.s4{fill:var(--s4);background:var(--s4)}
        .s5{fill:var(--s5);background:var(--s5)}.mark{fill:var(--mark)}
        .legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:0;padding:0}
        .key{display:inline-block;width:.75rem;height:.75rem;border-radius:.2rem;margin-right:.4rem;
        border:1px solid var(--line)}
        .legend b{font-weight:650}
        table{width:100%;border-collapse:collapse}
        th,td{padding:.32rem .5rem;text-align:right;vertical-align:middle;border-bottom:1px solid var(--line)}
        tbody tr:last-child>*{border-bottom:0}
        th:first-child,td:first-child{padding-left:0}
        th:last-child,td:last-child{padding-right:0}
        thead th{color:var(--soft);font-size:.8125rem;font-weight:500}
        th:first-child,td:first-child,tbody th,.list th:nth-child(2),.list td:nth-child(2){text-align:left}
        tbody th{font-weight:500;overflow-wrap:anywhere}
        .rows td{white-space:nowrap}
        .rows .picture{width:30%;min-width:4rem}
        .list td:first-child,.list td:nth-child(2){overflow-wrap:anywhere}
        @media (max-width:40rem){
        .rows tr{display:grid;grid-template-columns:1fr 2.6rem 4.6rem 3.2rem;gap:0 .5rem;align-items:baseline;
        padding:.4rem 0;border-bottom:1px solid var(--line)}
        .rows tbody tr:last-child{border-bottom:0}
        .rows th,.rows td{border:0;padding:.1rem 0}
        .rows .picture{grid-column:1/-1;width:auto}.rows thead .picture{display:none}
        .list thead{position:absolute;clip-path:inset(50%)}
        .list tr{display:block;padding:.45rem 0;border-bottom:1px solid var(--line)}
        .list tbody tr:last-child{border-bottom:0}
        .list td,.list td:nth-child(2){display:flex;justify-content:space-between;gap:1rem;border:0;padding:.1rem 0;
        text-align:right}
        .list td::before{content:attr(data-head);color:var(--soft);flex:none}
        .list td:first-child{font-weight:650}}
        @media print{body{background:#fff}.card,.tile{break-inside:avoid}}
        """
}
