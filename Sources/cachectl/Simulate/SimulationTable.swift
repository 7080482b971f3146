internal import Foundation
@_spi(Simulation) internal import PrefetchCaching

/// What would have come of the journal, as text or JSON.
struct SimulationTable {
    let trace: JournalTrace
    let rows: [WhatIf]
    let usesGate: Bool

    /// With fewer days, habits do not show.
    private static let fewestDays = 7.0

    func print(to output: Output) throws {
        if output.isJSON {
            for row in rows { try output.print(json: json(row), isPretty: false) }
        } else {
            try output.print(lines)
        }
    }

    private var lines: [String] {
        var table = TextTable([.right, .left, .right, .right, .right, .right, .right, .right, .left])
        table.add(["BUDGET", "POLICY", "HITS", "OF", "HIT-RATIO", "BYTES-HIT", "DOWNLOADED", "WASTED", ""])
        for row in rows {
            let result = row.result
            table.add([
                Size.text(row.setting.budget.bytes), row.setting.policy.rawValue, "\(result.hits)",
                "\(result.opens)", row.hitRatio.map { Percent.text(Int64(($0 * 1000).rounded())) } ?? "–",
                Size.text(result.hitBytes), Size.text(result.downloadedBytes), Size.text(result.wastedBytes),
                row.isCurrent ? "in force" : "",
            ])
        }
        return coverage + [""] + table.lines
    }

    private var coverage: [String] {
        guard let period = trace.period else { return [] }
        let days = String(format: "%.1f", trace.days)
        let time =
            "the journal covers \(days) days, from \(Timestamp.text(milliseconds: period.lowerBound)) to "
            + "\(Timestamp.text(milliseconds: period.upperBound)): \(Count.text(trace.arrivals, "arrival"))"
        return [time] + (trace.days < Self.fewestDays ? ["so few days make rough figures"] : [])
    }

    private func json(_ row: WhatIf) -> JSONObject {
        let result = row.result
        return [
            "budgetBytes": row.setting.budget.bytes, "policy": row.setting.policy.rawValue, "gate": usesGate,
            "isInForce": row.isCurrent, "hits": result.hits, "lookups": result.opens,
            "hitRatio": row.hitRatio.orNull, "hitBytes": result.hitBytes, "lookupBytes": result.openBytes,
            "downloadedBytes": result.downloadedBytes, "wastedBytes": result.wastedBytes,
            "arrivals": trace.arrivals, "fromMilliseconds": trace.period?.lowerBound,
            "toMilliseconds": trace.period?.upperBound,
        ]
    }
}
