internal import PrefetchCaching

/// The screen of `cachectl watch`: a pure function of a sample, what happened, and the size of the terminal.
struct WatchScreen {
    let title: String
    let interval: Interval
    let sample: CacheSample
    /// Newest last.
    let recent: [JournalEntry]

    /// - Returns: At most as many lines as the terminal has, none of them wider.
    func lines(_ size: TerminalSize) -> [String] {
        var lines = [heading(size.columns), ""] + figures
        // At least half of the remaining lines for the sources, more if there are few events.
        let rest = size.lines - lines.count
        lines += section("SOURCES", sources, lines: max(rest - recent.count - 2, rest / 2))
        lines += section("RECENT", recent.reversed().map(\.line), lines: size.lines - lines.count)
        return lines.prefix(max(0, size.lines)).map { $0.escapedForTerminal.prefix(columns: size.columns) }
    }

    private func heading(_ columns: Int) -> String {
        let end = "  \(Timestamp.time(of: sample.time)) UTC, every \(interval), q quits"
        // The end of a path is more informative than its start.
        let title = title.escapedForTerminal.suffix(columns: max(12, columns - end.columns))
        return title + String(repeating: " ", count: max(0, columns - title.columns - end.columns)) + end
    }

    private var figures: [String] {
        let (now, volume) = (sample.statistics, sample.volume)
        let (charged, budget, level) = (now.chargedBytes, now.budgetBytes, now.pressure)
        var items = "\(now.items), \(Size.text(now.contentBytes)) as \(Size.text(now.storedBytes))"
        if now.partials > 0 { items += "; \(now.partials) interrupted (\(Size.text(now.partialBytes)))" }
        if now.quarantinedItems > 0 { items += "; \(now.quarantinedItems) damaged" }
        return TextTable([
            "budget": "\(Bar.text(charged, of: budget)), \(Size.text(charged)) of \(Size.text(budget))",
            "pressure":
                "\(level.rawValue), \(Size.text(volume.available)) of \(Size.text(volume.total)) available"
                + (level == .normal ? "" : "; nothing is admitted"),
            "items": items,
            "so far": "\(now.stores) stored, \(now.promotions) opened, \(now.evictions) evicted, "
                + "\(now.refusals.values.reduce(0, +)) refused; \(Count.text(now.hits, "hit")), "
                + "\(now.misses) missed",
        ]).lines
    }

    private var sources: [String] {
        var table = TextTable([.left, .right, .right])
        for source in sample.sources {
            table.add([source.source.orNone, "\(source.items)", Size.text(source.chargedBytes)])
        }
        return table.lines
    }

    /// - Parameter lines: The available lines, including a blank line and the heading.
    private func section(_ head: String, _ rows: [String], lines: Int) -> [String] {
        lines < 3 || rows.isEmpty ? [] : ["", head] + rows.prefix(lines - 2)
    }
}
