internal import PrefetchCaching

/// How much of the volume the cache may use, and why, as text.
struct CapacityTable {
    private typealias Row = Derivation.Step

    let report: CapacityReport
    let configuration: CacheConfiguration
    private var capacity: Capacity { report.capacity }

    var lines: [String] {
        // One table, so that sizes align across sections.
        let sections = [
            ("VOLUME", volume),
            ("AUTOMATIC BUDGET", Derivation(capacity: capacity, model: configuration.capacityModel).steps),
            ("IN FORCE", inForce), ("IN USE", use),
        ]
        var table = TextTable([.left, .right, .left])
        for row in sections.flatMap(\.1) {
            table.add(["  \(row.name)", Size.text(row.bytes), row.explanation])
        }
        var rows = table.lines[...]
        var lines: [String] = []
        for (title, section) in sections {
            lines += [title] + rows.prefix(section.count) + [""]
            rows = rows.dropFirst(section.count)
        }
        return verdict + [""] + lines + pressure
    }

    private var verdict: [String] {
        let admitted = "items of up to \(Size.text(min(report.largestItemBytes, report.ceilingBytes)))"
        return TextTable([
            "pressure": currentPressure,
            "admitted": AdmissionBlock(report).map { "nothing: \($0.message)" } ?? admitted,
        ]).lines
    }

    private var currentPressure: String {
        let (level, thresholds) = (report.pressure, capacity.thresholds)
        guard let meaning = level.meaning(thresholds), let end = thresholds.end(of: level) else {
            return level.rawValue
        }
        let next = thresholds.successor(of: level)
        return "\(level.rawValue): \(meaning). It ends when \(Size.text(end)) are available, "
            + "\(Size.text(max(0, end - capacity.state.available))) more than now"
            + (next == .normal ? "" : ", and is \(next) then")
    }

    private var volume: [Row] {
        let state = capacity.state
        return [
            ("total", state.total, "its size (T)"),
            ("available", state.available, "bytes that may still be written (A)"),
            ("ours", state.evictable, "items and work under way (U)"),
        ] + (state.purgeable > 0 ? [("purgeable", state.purgeable, "by the system (P)")] : [])
    }

    private var inForce: [Row] {
        let isLimitedByRoom = report.ceilingBytes < report.budgetBytes
        return [
            ("budget", report.budgetBytes, budget),
            (
                "ceiling", report.ceilingBytes,
                isLimitedByRoom ? "the room on the volume, which is less than the budget" : "the budget"
            ),
            ("largest item", report.largestItemBytes, largestItem),
        ]
    }

    private var budget: String {
        switch report.configuredBudget {
        case .fixed: "fixed by the configuration"
        case .automatic: "automatic" + hysteresis
        case .automaticUpTo(let cap): "automatic, at most \(Size.text(cap.bytes))" + hysteresis
        }
    }

    /// Why the effective budget differs from the derived one.
    private var hysteresis: String {
        guard report.budgetBytes != capacity.budget else { return "" }
        let growth = Percent.text(configuration.capacityModel.growthPerMille)
        return
            "; it grows only in steps of at least \(growth), and \(Size.text(capacity.budget)) would be less"
    }

    private var largestItem: String {
        guard let largest = configuration.largestItem else { return "half the budget" }
        return largest.bytes > report.budgetBytes
            ? "the budget; \(Size.text(largest.bytes)) are configured" : "as configured"
    }

    private var use: [Row] {
        let (ceiling, charged) = (Size.text(report.ceilingBytes), Size.text(report.chargedBytes))
        let (held, catalog) = (Size.text(report.heldBytes), Size.text(report.catalogBytes))
        let used = Int128(report.chargedBytes) + Int128(report.heldBytes) + Int128(report.catalogBytes)
        let excess = used > Int128(report.ceilingBytes) ? ", and at least 0 B" : ""
        return [
            ("charged", report.chargedBytes, "for items, and for quarantined ones"),
            ("held", report.heldBytes, "by processes, for items under way and in advance"),
            ("catalog", report.catalogBytes, "which also counts"),
            (
                "free", report.freeBytes,
                "ceiling \(ceiling) − charged \(charged) − held \(held) − catalog \(catalog)\(excess)"
            ),
        ]
    }

    private var pressure: [String] {
        var table = TextTable([.left, .right, .right, .left])
        table.add(["PRESSURE", "BEGINS BELOW", "ENDS AT", "MEANING"])
        for (level, band) in capacity.thresholds.bands {
            table.add([
                "  \(level.rawValue)", Size.text(band.enter), Size.text(band.end),
                level.meaning(capacity.thresholds) ?? "",
            ])
        }
        return table.lines
    }
}
