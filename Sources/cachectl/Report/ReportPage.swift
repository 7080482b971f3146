internal import PrefetchCaching
internal import PrefetchFileSystem
internal import StorageInventory
internal import SystemPackage

/// An HTML page that shows where the bytes of a cache are, and of all that is stored beside it. A single file without external resources.
struct ReportPage {
    let name: String
    /// Milliseconds since 1970.
    let time: Int64
    let statistics: CacheStatistics
    let capacity: CapacityReport
    let holdings: Holdings
    /// Oldest first.
    let events: [JournalEntry]
    let contents: ContainerContents

    var text: String {
        let head = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="color-scheme" content="light dark" />
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
            <title>Cache report: \(HTML.text(name))</title>
            <style>
            \(ReportStyle.css)
            </style>
            </head>
            <body>
            <header>
            <h1>Cache report</h1>
            <p class="sub">\(HTML.name(name)) · \(Self.date(time))</p>
            </header>
            <main>
            """
        return [
            head, summary, budget, volume, "<div class=\"grid\">",
            breakdown(
                "area", "By area", holdings.areas,
                "Caches holds data that may vanish: items, interrupted items and the catalog. The rest was handed "
                    + "over, and is the user’s."),
            breakdown("age", "By age", holdings.ages, "Cached items, by when they were stored."), "</div>",
            breakdown(
                "source", "By source", holdings.sources,
                "Cached items, by the feed or server they come from."), encodings,
            items + files + allFiles + findings + recent + footer,
        ].joined(separator: "\n")
    }

    private var summary: String {
        let reads = statistics.hits + statistics.misses
        let tiles = [
            ("items", "\(statistics.items)", "\(Size.text(statistics.contentBytes)) of content"),
            (
                "stored", Size.text(statistics.storedBytes),
                statistics.contentBytes > 0
                    ? "\(Bar.percent(statistics.storedBytes, of: statistics.contentBytes)) % of the content"
                    : "nothing yet"
            ),
            (
                "hits", reads > 0 ? "\(Bar.percent(statistics.hits, of: reads)) %" : "–",
                "\(statistics.hits) of \(reads) reads"
            ),
            ("opened", "\(statistics.promotions)", "items handed over"),
            ("evicted", "\(statistics.evictions)", Size.text(statistics.evictedBytes)),
            (
                "refused", "\(statistics.refusals.values.reduce(0, +))",
                statistics.refusals.isEmpty ? "nothing" : statistics.refusalText
            ),
        ]
        let cells = tiles.map { name, value, remark in
            "<div class=\"tile\"><dt>\(name)</dt><dd>\(value)<span>\(HTML.text(remark))</span></dd></div>"
        }
        return "<dl class=\"tiles\">\(cells.joined())</dl>"
    }

    private var budget: String {
        let whole = max(capacity.budgetBytes, 0)
        let items = max(0, capacity.chargedBytes - statistics.partialBytes)
        let parts = [
            ("items", "s1", items), ("interrupted", "s2", statistics.partialBytes),
            ("under way", "s3", capacity.heldBytes), ("catalog", "s4", capacity.catalogBytes),
        ]
        let used = parts.reduce(0) { $0 + $1.2 }
        let free = max(0, whole - used)
        return figure(
            "budget", "Budget",
            "\(Bar.percent(used, of: whole)) % of \(Size.text(whole)) used"
                + (capacity.configuredBudget.isFixed
                    ? ", fixed by the configuration" : capacity.configuredBudget.origin),
            parts + [("free", "track", free)], whole: max(whole, used))
    }

    private var volume: String {
        let state = capacity.capacity.state
        let others = max(0, state.total - state.available - state.evictable)
        let level = capacity.pressure
        let meaning = level.meaning(capacity.capacity.thresholds).map { ": \($0)" } ?? ""
        return figure(
            "volume", "Volume",
            "\(Size.text(state.available)) of \(Size.text(state.total)) available; pressure is \(level.rawValue)\(meaning)",
            [
                ("others", "s5", others), ("this cache", "s1", state.evictable),
                ("available", "track", state.available),
            ], whole: state.total, marks: [state.total - capacity.capacity.reserve],
            remark:
                "The line marks the reserve of \(Size.text(capacity.capacity.reserve)), which opportunistic items leave free."
        )
    }

    /// A segmented bar, with a legend that repeats all of its information as text.
    private func figure(
        _ id: String, _ title: String, _ summary: String,
        _ parts: [(name: String, style: String, bytes: Int64)],
        whole: Int64, marks: [Int64] = [], remark: String? = nil
    ) -> String {
        let words = parts.map { "\($0.name) \(Size.text($0.bytes))" }.joined(separator: ", ")
        let picture = BarPicture(
            title: title, description: "\(summary). \(words).",
            segments: parts.filter { $0.style != "track" }.map { .init(style: $0.style, amount: $0.bytes) },
            whole: whole, marks: marks)
        let legend = parts.map { part in
            "<li><i class=\"key \(part.style)\"></i>\(part.name) <b>\(Size.text(part.bytes))</b></li>"
        }
        return """
            <section class="card" aria-labelledby="\(id)-h">
            <h2 id="\(id)-h">\(title)</h2><p>\(HTML.text(summary))</p>
            \(picture.svg(id: id))
            <ul class="legend">\(legend.joined())</ul>\(note(remark))
            </section>
            """
    }

    private func note(_ remark: String?) -> String {
        remark.map { "<p class=\"note\">\(HTML.text($0))</p>" } ?? ""
    }

    /// A table with a bar in each row.
    private func breakdown(_ id: String, _ title: String, _ parts: [Holdings.Part], _ remark: String)
        -> String
    {
        let total = parts.reduce(0) { $0 + $1.bytes }
        let most = parts.map(\.bytes).max() ?? 0
        let rows = parts.enumerated().map { index, part in
            let name = part.isForeign ? HTML.name(part.name) : HTML.text(part.name)
            let picture = BarPicture(
                title: part.name,
                description: "\(Size.text(part.bytes)), \(Self.share(part.bytes, of: total)) of all",
                segments: [.init(style: "s1", amount: part.bytes)], whole: most)
            return """
                <tr><th scope="row">\(name)</th><td>\(part.count)</td><td>\(Size.text(part.bytes))</td>\
                <td>\(HTML.text(Self.share(part.bytes, of: total)))</td>\
                <td class="picture">\(picture.svg(id: "\(id)-\(index)"))</td></tr>
                """
        }
        let body =
            total == 0 && parts.allSatisfy { $0.count == 0 }
            ? Self.nothing
            : """
            <table class="rows"><thead><tr><th scope="col">\(id)</th><th scope="col">files</th>\
            <th scope="col">bytes</th><th scope="col">share</th><th scope="col" class="picture"></th></tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table>
            """
        return """
            <section class="card" aria-labelledby="\(id)-h">
            <h2 id="\(id)-h">\(title)</h2>
            \(body)
            \(note(remark))
            </section>
            """
    }

    private static let nothing = "<p class=\"empty\">Nothing here.</p>"

    /// Rounded to nearest, so that the parts add up to about 100 %.
    private static func share(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0, part > 0 else { return "0 %" }
        let percent = (Int128(part) * 100 + Int128(whole) / 2) / Int128(whole)
        return percent == 0 ? "< 1 %" : "\(percent) %"
    }

    private static func date(_ milliseconds: Int64) -> String {
        let day = Timestamp.day(of: milliseconds)
        return "\(day) \(Timestamp.time(of: milliseconds).prefix(5)) UTC"
    }

    private var encodings: String {
        let saved = max(0, statistics.contentBytes - statistics.storedBytes)
        let parts = zip(["s1", "s2"], holdings.encodings).map { style, part in
            (name: "\(part.name), \(part.count)", style: style, bytes: part.bytes)
        }
        return figure(
            "encoding", "By encoding",
            "Compression saves \(Size.text(saved)) of \(Size.text(statistics.contentBytes))", parts,
            whole: parts.reduce(0) { $0 + $1.bytes })
    }

    private var items: String {
        table(
            "items", "The largest items", ["key", "source", "stored", "encoding", "content", "charged"],
            holdings.largest.map { item in
                [
                    HTML.name(item.key.string), HTML.name(item.source), Self.date(item.storedAt),
                    item.encoding.name, Size.text(item.contentBytes), Size.text(item.chargedBytes),
                ]
            },
            remark: statistics.items > holdings.largest.count
                ? "The \(holdings.largest.count) largest of \(statistics.items)." : nil)
    }

    private var files: String {
        table(
            "files", "The largest opened files", ["key", "file", "opened", "backup", "bytes"],
            holdings.files.map { file in
                [
                    HTML.name(file.key.string),
                    HTML.name("\(file.location.area.name)/\(file.location.relative.string)"),
                    Self.date(file.openedAt), file.backup.name, Size.text(file.presentBytes ?? 0),
                ]
            },
            remark: holdings.movedFiles > 0
                ? "\(holdings.movedFiles) more were moved or deleted by the user." : nil)
    }

    private var allFiles: String {
        let backedUp = contents.backedUpBytes
        let bar = figure(
            "backup", "Backups",
            "\(Size.text(backedUp)) of \(Size.text(contents.bytes)) are in backups",
            [("in backups", "s2", backedUp), ("left out", "track", contents.bytes - backedUp)],
            whole: contents.bytes)
        let rows = contents.groups.map { group in
            [
                HTML.text(group.areaTitle),
                group.isForeign ? HTML.name(group.purpose) : HTML.text(group.purpose),
                "\(group.files)", Size.text(group.bytes), Size.text(group.backedUpBytes),
            ]
        }
        return bar + "\n"
            + table(
                "purposes", "All files, by area and purpose",
                ["area", "purpose", "files", "bytes", "in backups"], rows,
                remark: contents.problems > 0
                    ? "\(Count.text(contents.problems, "file")) could not be read." : nil)
    }

    private var findings: String {
        table(
            "findings", "What is wrong", ["rule", "file", "what", "fix"],
            contents.findings.prefix(Holdings.maximumRows).map { finding in
                [
                    "\(finding.rule.severity.rawValue): \(finding.rule.name)",
                    HTML.name(finding.path.displayText),
                    HTML.text(finding.message), HTML.text(finding.rule.fix),
                ]
            },
            remark: contents.findings.count > Holdings.maximumRows
                ? "\(Holdings.maximumRows) of \(contents.findings.count); 'cachectl inventory --check' lists all."
                : nil)
    }

    private static let mostEvents = 200

    private var recent: String {
        let shown = events.suffix(Self.mostEvents).reversed()
        return table(
            "events", "Recent events", ["key", "event", "source", "bytes", "time"],
            shown.map { event in
                [
                    HTML.name(event.key),
                    HTML.text(
                        [event.kind.rawValue, event.why].filter { !$0.isEmpty }.joined(separator: ": ")),
                    HTML.name(event.source), event.size ?? "",
                    HTML.text("\(Timestamp.day(of: event.time)) \(Timestamp.time(of: event.time))"),
                ]
            },
            remark: events.count > shown.count
                ? "The last \(shown.count) of \(events.count); 'cachectl events' lists all." : nil)
    }

    private func table(_ id: String, _ title: String, _ heads: [String], _ rows: [[String]], remark: String?)
        -> String
    {
        guard !rows.isEmpty else {
            return "<section class=\"card\"><h2>\(title)</h2>\(Self.nothing)\(note(remark))</section>\n"
        }
        let head = heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let body = rows.map { row in
            "<tr>" + zip(heads, row).map { "<td data-head=\"\($0)\">\($1)</td>" }.joined() + "</tr>"
        }
        return """
            <section class="card" aria-labelledby="\(id)-h">
            <h2 id="\(id)-h">\(title)</h2>
            <table class="list"><thead><tr>\(head)</tr></thead>
            <tbody>\(body.joined(separator: "\n"))</tbody></table>\(note(remark))
            </section>

            """
    }

    private var footer: String {
        """
        </main>
        <footer><p>Created by cachectl. Sizes are in units of 1,024 bytes; those of items are their charges \
        against the budget.</p></footer>
        </body>
        </html>
        """
    }
}
