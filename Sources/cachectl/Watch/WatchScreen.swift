internal import PrefetchCaching

/// The screen of `cachectl watch`: a pure function of a sample, the events and the size of the terminal.
struct WatchScreen {
    let title: String
    let interval: Duration
    let sample: CacheSample
    /// Newest last.
    let events: [WatchEvent]

    /// - Returns: At most as many lines as the terminal has.
    func lines(_ size: TerminalSize) -> [StyledLine] {
        let head = [
            heading(size.columns), StyledLine(), budget(size.columns), volume, items, counters(size.columns),
        ]
        var lines = Array(head.prefix(max(0, size.lines)))
        // At least half of the remaining lines for the sources, more if there are few events.
        let rest = size.lines - lines.count
        let room = max(rest - events.count - 2, rest / 2)
        lines += sources(columns: size.columns, lines: min(sample.sources.count + 2, room))
        lines += section("RECENT", recent, lines: size.lines - lines.count)
        return lines
    }

    private var statistics: CacheStatistics { sample.statistics }

    private func heading(_ columns: Int) -> StyledLine {
        let end = "\(Timestamp.time(of: sample.time)) UTC, every \(Self.text(interval)), q quits"
        // The end of a path is more informative than its start.
        let title = title.escapedForTerminal
        let room = columns - end.columns - 2
        guard room >= 12 else { return StyledLine(title.suffix(columns: columns), .bold) }
        return StyledLine(title.suffix(columns: room).fitted(columns: room) + "  ", .bold)
            + StyledLine(end, .dim)
    }

    private func budget(_ columns: Int) -> StyledLine {
        let (charged, budget) = (statistics.chargedBytes, statistics.budgetBytes)
        let percent = Bar.percent(charged, of: budget)
        let cells = max(6, min(40, columns - 46))
        let filled = percent >= 100 ? cells : min(Int(percent) * cells / 100, cells - 1)
        let style: StyledLine.Style = percent >= 95 ? .warning : .good
        return label("budget") + StyledLine("[") + StyledLine(String(repeating: "#", count: filled), style)
            + StyledLine(String(repeating: "-", count: cells - filled), .dim)
            + StyledLine("] \(percent) %, \(Size.text(charged)) of \(Size.text(budget))")
    }

    private var volume: StyledLine {
        let level = statistics.pressure
        let style: StyledLine.Style =
            switch level {
            case .normal: .good
            case .elevated: .warning
            case .low, .critical: .bad
            }
        let available = "\(Size.text(sample.availableBytes)) of \(Size.text(sample.totalBytes)) available"
        return label("pressure") + StyledLine(level.rawValue, style)
            + StyledLine(", \(available)" + (level == .normal ? "" : "; nothing is admitted"))
    }

    private var items: StyledLine {
        var text =
            "\(statistics.items), \(Size.text(statistics.contentBytes)) as \(Size.text(statistics.storedBytes))"
        if statistics.partials > 0 {
            text += "; \(statistics.partials) interrupted (\(Size.text(statistics.partialBytes)))"
        }
        if statistics.quarantinedItems > 0 { text += "; \(statistics.quarantinedItems) damaged" }
        return label("items") + StyledLine(text)
    }

    private func counters(_ columns: Int) -> StyledLine {
        let refusals = statistics.refusals.values.reduce(0, +)
        let handled =
            "\(statistics.stores) stored, \(statistics.promotions) opened, \(statistics.evictions) evicted, "
            + "\(refusals) refused"
        let looked = "; \(Count.text(statistics.hits, "hit")), \(statistics.misses) missed"
        let isWide = handled.count + looked.count + 10 <= columns
        return label("so far") + StyledLine(isWide ? handled + looked : handled)
    }

    private func label(_ name: String) -> StyledLine { StyledLine(name.fitted(columns: 10), .dim) }

    /// - Parameter lines: The available lines, including a blank line and the heading.
    private func section(_ head: String, _ rows: [StyledLine], lines: Int) -> [StyledLine] {
        guard lines >= 3, !rows.isEmpty else { return [] }
        return [StyledLine(), StyledLine(head, .bold)] + rows.prefix(lines - 2)
    }

    private func sources(columns: Int, lines: Int) -> [StyledLine] {
        let most = max(0, lines - 2)
        guard most > 0, !sample.sources.isEmpty else { return [] }
        let isCut = sample.sources.count > most
        let shown = sample.sources.prefix(isCut ? most - 1 : most)
        let hasBars = columns >= 60
        let widest = max(8, min(36, columns - (hasBars ? 38 : 22)))
        let width = min(widest, max(8, shown.map { Self.name($0).columns }.max() ?? 0))
        let largest = shown.first?.chargedBytes ?? 0
        var rows = shown.map { source in
            let numbers = Self.right("\(source.items)", 8) + Self.right(Size.text(source.chargedBytes), 12)
            let line = StyledLine(Self.name(source).fitted(columns: width)) + StyledLine(numbers)
            guard hasBars else { return line }
            let cells = largest > 0 ? Int(Double(source.chargedBytes) / Double(largest) * 14) : 0
            return line + StyledLine("  " + String(repeating: "#", count: max(1, cells)), .accent)
        }
        if isCut {
            let rest = sample.sources.dropFirst(shown.count)
            let bytes = rest.reduce(0) { $0 + $1.chargedBytes }
            rows.append(StyledLine("… \(rest.count) more, \(Size.text(bytes))", .dim))
        }
        let head = "SOURCE".fitted(columns: width) + Self.right("ITEMS", 8) + Self.right("CHARGED", 12)
        return section(head, rows, lines: lines)
    }

    /// Newest first.
    private var recent: [StyledLine] {
        events.reversed().map { event in
            StyledLine(Timestamp.time(of: event.time) + "  ", .dim) + StyledLine(event.text, event.kind.style)
        }
    }

    private static func name(_ source: SourceUsage) -> String {
        source.source.isEmpty ? "(none)" : source.source.escapedForTerminal
    }

    private static func right(_ text: String, _ columns: Int) -> String {
        String(repeating: " ", count: max(1, columns - text.columns)) + text
    }

    static func text(_ interval: Duration) -> String {
        let milliseconds = interval.milliseconds
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}

extension WatchEvent.Kind {
    fileprivate var style: StyledLine.Style {
        switch self {
        case .stored, .opened, .delivered: .good
        case .evicted, .budget: .plain
        case .refused, .purged, .pressure, .rebuilt, .lost: .warning
        case .damaged: .bad
        }
    }
}
