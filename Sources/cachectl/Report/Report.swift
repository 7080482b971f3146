internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

struct Report: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Prints an HTML page with pictures of the cache.",
        discussion: """
            The page is a single file for any browser, without scripts, and loads nothing else. It shows which sources \
            fill the cache, what was used and what was wasted week by week, and what would be evicted next.

            EXAMPLES:
              # Write a page for a browser
              cachectl report --app org.example.app >report.html
            """)

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let statistics = try await cache.statistics()
        // In the order of the policy, whichever it is.
        let next = EvictionRequest(amount: .atLeast(.bytes(max(1, statistics.chargedBytes / 4))))
        let page = ReportPage(
            name: shared.placeName, time: Timestamp.now, statistics: statistics,
            freeBytes: try await cache.capacity().freeBytes, sources: try await cache.sources(),
            weeks: try await cache.history().byWeek, next: try await cache.evict(next, dryRun: true))
        try output.print(verbatim: page.text.utf8)
    }
}

/// An HTML page with three pictures of a cache: what fills it, whether that is worth it, and what goes next. A single file
/// without external resources.
struct ReportPage {
    /// The most rows of a picture: the rest is summed up, or left out.
    static let mostRows = 12

    let name: String
    /// Milliseconds since 1970.
    let time: Int64
    let statistics: CacheStatistics
    /// What may be stored before something goes.
    let freeBytes: Int64
    /// The largest first.
    let sources: [SourceUsage]
    /// Oldest first.
    let weeks: [(day: Date, figures: PrefetchFigures)]
    /// In the order of eviction.
    let next: [EvictedFile]

    var text: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>Cache report: \(HTML.text(name))</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <h1>Cache report</h1>
        <p class="note">\(HTML.name(name)) · \(Timestamp.text(milliseconds: time))</p>
        <p>\(HTML.text(summary))</p>
        \([filling, worth, departures].map(\.html).joined(separator: "\n"))
        <p class="note">Created by cachectl. Sizes are in units of 1,024 bytes.</p>
        </body>
        </html>
        """
    }

    private var summary: String {
        let (charged, budget) = (statistics.chargedBytes, statistics.budgetBytes)
        return "\(Count.text(statistics.items, "item")), charged \(Size.text(charged)): "
            + "\(Bar.percent(charged, of: budget)) % of the budget of \(Size.text(budget)); the pressure is "
            + "\(statistics.pressure.rawValue)."
    }

    private var filling: Picture {
        let shown = sources.prefix(sources.count > Self.mostRows ? Self.mostRows - 1 : Self.mostRows)
        var rows = shown.map { source in
            Picture.Row(
                name: source.source.isEmpty ? "(none)" : HTML.name(source.source),
                texts: ["\(source.items)", Size.text(source.chargedBytes)], parts: [source.chargedBytes])
        }
        let rest = sources.dropFirst(shown.count)
        if !rest.isEmpty {
            let bytes = rest.reduce(0) { $0 + $1.chargedBytes }
            rows.append(
                Picture.Row(
                    name: "\(rest.count) others",
                    texts: ["\(rest.reduce(0) { $0 + $1.items })", Size.text(bytes)], parts: [bytes]))
        }
        return Picture(
            id: "sources", title: "What fills the cache", heads: ["source", "items", "charged"],
            legend: ["charged"], rows: rows,
            remark: "Charged bytes of the items, by the source they came from.")
    }

    private var worth: Picture {
        let rows = weeks.suffix(Self.mostRows).map { day, figures in
            let (used, wasted) = (figures[.usedBytes], figures[.wastedBytes])
            return Picture.Row(
                name: Timestamp.day(of: day.milliseconds), texts: [Size.text(used), Size.text(wasted)],
                parts: [used, wasted])
        }
        return Picture(
            id: "worth", title: "Was it worth it?", heads: ["week", "used", "wasted"],
            legend: ["used", "wasted"], rows: rows,
            remark:
                "Content that was stored in a week, and was used or left unused since. Weeks begin on Monday, in UTC."
        )
    }

    private var departures: Picture {
        let rows = next.prefix(Self.mostRows).map { file in
            Picture.Row(
                name: file.key.map { HTML.name($0.string) } ?? "(unknown)",
                texts: [file.kind.rawValue, Size.text(file.chargedBytes)], parts: [file.chargedBytes])
        }
        return Picture(
            id: "next", title: "What goes next", heads: ["key", "kind", "charged"], legend: ["charged"],
            rows: rows,
            remark:
                "From the top, once more than \(Size.text(freeBytes)) are needed and nothing is used meanwhile."
        )
    }

    /// Follows the browser's light or dark mode, and fits any width and print. The colours of the bars have a contrast of
    /// 3:1 against the page and are safe for red-green colour blindness; names and numbers accompany them anyway.
    private static let style = """
        :root{--page:#fff;--ink:#16202c;--soft:#566273;--line:#dde2e9;--s0:#2f6fdb;--s1:#c77700}
        @media (prefers-color-scheme:dark){:root{--page:#12161c;--ink:#e8edf3;--soft:#9eabbb;--line:#2d3641;
        --s0:#6ea5ff;--s1:#f0a63a}}
        body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem;background:var(--page);color:var(--ink);
        font:16px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}
        h1{font-size:1.6rem;margin:0}
        h2{font-size:1.1rem;margin:2rem 0 .3rem}
        .note{color:var(--soft);overflow-wrap:anywhere}
        table{width:100%;border-collapse:collapse}
        th,td{padding:.3rem .5rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
        th:first-child{padding-left:0;text-align:left;white-space:normal;overflow-wrap:anywhere;font-weight:500}
        thead th{color:var(--soft);font-size:.85rem;font-weight:500}
        td:last-child{width:40%;min-width:5rem;padding-right:0}
        svg{display:block;width:100%;height:.8rem}
        .s0{fill:var(--s0);color:var(--s0)}.s1{fill:var(--s1);color:var(--s1)}
        tr{break-inside:avoid}
        """
}

/// A table with a bar in each row, which repeats what the row says in numbers.
struct Picture {
    struct Row {
        /// As HTML.
        let name: String
        let texts: [String]
        /// The lengths of the segments of the bar.
        let parts: [Int64]
    }

    /// Unique on the page.
    let id: String
    let title: String
    let heads: [String]
    /// The names of the segments.
    let legend: [String]
    let rows: [Row]
    let remark: String

    private static let width = 10_000

    var html: String {
        let heads = heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let colours = legend.enumerated().map { "<span class=\"s\($0)\">■</span> \($1)" }
        // Of a damaged catalog the sum may be anything.
        let whole = rows.map { $0.parts.reduce(Int128(0)) { $0 + Int128(max(0, $1)) } }.max() ?? 0
        let lines = rows.enumerated().map { number, row in
            let texts = row.texts.map { "<td>\(HTML.text($0))</td>" }.joined()
            return
                "<tr><th scope=\"row\">\(row.name)</th>\(texts)<td>\(bar(of: row, number, whole))</td></tr>"
        }
        let body =
            rows.isEmpty
            ? "<p>Nothing yet.</p>"
            : """
            <table><thead><tr>\(heads)<td>\(colours.joined(separator: " "))</td></tr></thead>
            <tbody>\(lines.joined(separator: "\n"))</tbody></table>
            """
        return """
            <section aria-labelledby="\(id)"><h2 id="\(id)">\(HTML.text(title))</h2>
            \(body)
            <p class="note">\(HTML.text(remark))</p></section>
            """
    }

    /// It contains no visible text: its title is for screen readers.
    private func bar(of row: Row, _ number: Int, _ whole: Int128) -> String {
        var start = 0
        var shapes = ""
        for (index, bytes) in row.parts.enumerated() where bytes > 0 {
            // Small amounts stay visible.
            let width = min(max(Int(Int128(bytes) * Int128(Self.width) / whole), 30), Self.width - start)
            shapes += "<rect class=\"s\(index)\" x=\"\(start)\" width=\"\(width)\" height=\"10\"/>"
            start += width
        }
        let words = zip(legend, row.parts).map { "\($0) \(Size.text($1))" }.joined(separator: ", ")
        return """
            <svg viewBox="0 0 \(Self.width) 10" preserveAspectRatio="none" role="img" \
            aria-labelledby="\(id)-\(number)"><title id="\(id)-\(number)">\(HTML.text(words))</title>\(shapes)</svg>
            """
    }
}
