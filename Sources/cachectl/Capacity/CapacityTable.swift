internal import PrefetchCaching

/// How much of the volume the cache may use, and why, as text.
struct CapacityTable {
    let report: CapacityReport
    let configuration: CacheConfiguration
    private var capacity: Capacity { report.capacity }

    var lines: [String] {
        let derivation = Derivation(capacity: capacity, model: configuration.capacityModel)
        let sections = [
            ("VOLUME", volume), ("AUTOMATIC BUDGET", derivation.steps), ("IN FORCE", inForce),
            ("IN USE", use),
        ].map { title, rows in (title, rows.map { ["  \($0.name)", Size.text($0.bytes), $0.explanation] }) }
        // One table, so that sizes align across sections.
        var table = TextTable([.left, .right, .left])
        for row in sections.flatMap(\.1) { table.measure(row) }
        let lines = sections.flatMap { title, rows in [title] + rows.map(table.line) + [""] }
        return verdict + [""] + lines + pressure
    }

    private var verdict: [String] {
        let admitted = "items of up to \(Size.text(min(report.largestItemBytes, report.ceilingBytes)))"
        return TextTable([
            "pressure": currentPressure,
            "admitted": report.admissionBlock.map { "nothing: \($0.message)" } ?? admitted,
        ]).lines
    }

    private var currentPressure: String {
        let (level, thresholds) = (report.pressure, capacity.thresholds)
        guard let meaning = level.meaning(thresholds), let end = thresholds.end(of: level) else {
            return level.rawValue
        }
        let next = thresholds.level(at: end, after: level)
        return "\(level.rawValue): \(meaning). It ends when \(Size.text(end)) are available, "
            + "\(Size.text(max(0, end - capacity.state.available))) more than now"
            + (next == .normal ? "" : ", and is \(next) then")
    }

    private var volume: [Derivation.Step] {
        let state = capacity.state
        return [
            ("total", state.total, "its size (T)"),
            ("available", state.available, "bytes that may still be written (A)"),
            ("ours", state.evictable, "items and work under way (U)"),
        ] + (state.purgeable > 0 ? [("purgeable", state.purgeable, "by the system (P)")] : [])
    }

    private var inForce: [Derivation.Step] {
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

    private var use: [Derivation.Step] {
        let (charged, held, catalog) = (report.chargedBytes, report.heldBytes, report.catalogBytes)
        let free = Derivation.sum(
            [("ceiling", report.ceilingBytes)],
            minus: [("charged", charged), ("held", held), ("catalog", catalog)], is: report.freeBytes)
        return [
            ("charged", charged, "for items, and for quarantined ones"),
            ("held", held, "by processes, for items under way and in advance"),
            ("catalog", catalog, "which also counts"), ("free", report.freeBytes, free),
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

/// The steps from a volume's free space to an automatic budget, with their arithmetic as text.
struct Derivation {
    typealias Step = (name: String, bytes: Int64, explanation: String)
    typealias Term = (name: String, bytes: Int64)

    let capacity: Capacity
    let model: CapacityModel

    var steps: [Step] {
        let tiers = ShareTier.tiers(of: model, ownOrFree: capacity.ownOrFree).filter { $0.amount > 0 }
        let smallest = min(capacity.room, capacity.share, capacity.cap)
        let smallestName = smallest == capacity.room ? "room" : smallest == capacity.share ? "share" : "cap"
        let quanta = capacity.budget / capacity.quantum
        return [
            (
                "low", capacity.low,
                part(model.lowPerMille, limit: model.lowLimit) + "; with less the volume is nearly full"
            ),
            (
                "reserve", capacity.reserve,
                (model.fixedReserve == nil
                    ? part(model.reservePerMille, limit: model.reserveLimit) : "as configured")
                    + "; opportunistic items leave it free"
            ),
            ("important", capacity.important, "for requested items: " + important),
            ("opportunistic", capacity.opportunistic, "for opportunistic items: " + opportunistic),
            ("U + A", capacity.ownOrFree, Self.sum([own, available], is: capacity.ownOrFree)),
            ("room", capacity.room, room),
            (
                "share", capacity.share,
                tiers.isEmpty ? "of U + A, which is nothing" : tiers.map(\.text).joined(separator: " + ")
            ),
            (
                "cap", capacity.cap,
                capacity.cap < model.cap
                    ? "as configured; otherwise \(Size.text(model.cap))" : "the most on any volume"
            ),
            ("smallest", smallest, "of room, share and cap: \(smallestName)"),
            ("quantum", capacity.quantum, quantum),
            (
                "budget", capacity.budget,
                smallest == capacity.cap
                    ? "the cap"
                    : "\(smallestName) \(Size.text(smallest)), rounded down to \(quanta) × the quantum"
            ),
        ]
    }

    private var state: VolumeState { capacity.state }
    private var own: Term { ("ours", state.evictable) }
    private var available: Term { ("available", state.available) }

    private func part(_ perMille: Int64, limit: Int64) -> String {
        let part = Size.text(state.total.perMille(perMille))
        return "the smaller of \(Percent.text(perMille)) of the volume (\(part)) and \(Size.text(limit))"
    }

    private var important: String {
        if capacity.isImportantReported { return "reported by the system, not computed" }
        let purgeable: [Term] = state.purgeable > 0 ? [("purgeable", state.purgeable)] : []
        return Self.sum([available, own] + purgeable, minus: [("low", capacity.low)], is: capacity.important)
    }

    private var opportunistic: String {
        if capacity.isOpportunisticReported { return "reported by the system, not computed" }
        return Self.sum(
            [available], minus: [("reserve", capacity.reserve)], is: capacity.opportunistic,
            upper: "important")
    }

    private var room: String {
        capacity.isOpportunisticReported
            ? Self.sum(
                [own, ("opportunistic", capacity.opportunistic)], remark: ", as reported by the system",
                is: capacity.room)
            : Self.sum(
                [("U + A", capacity.ownOrFree)], minus: [("reserve", capacity.reserve)], is: capacity.room)
    }

    /// A sum in words, `available 70 GiB − reserve 4.0 GiB`, with the bound that its result was clamped to, if any.
    static func sum(
        _ added: [Term], minus subtracted: [Term] = [], remark: String = "", is result: Int64,
        upper: String = "the volume"
    ) -> String {
        let words =
            added.map { "\($0.name) \(Size.text($0.bytes))" }.joined(separator: " + ")
            + subtracted.map { " − \($0.name) \(Size.text($0.bytes))" }.joined() + remark
        let exact =
            added.reduce(Int128(0)) { $0 + Int128($1.bytes) } - subtracted.reduce(0) { $0 + Int128($1.bytes) }
        if exact < Int128(result) { return words + ", and at least \(Size.text(result))" }
        return exact > Int128(result) ? words + ", and at most \(upper)" : words
    }

    private var quantum: String {
        let part = state.total / model.quantumDivisor
        return "the smaller of \(Size.text(model.quantumLimit)) and the volume ÷ \(model.quantumDivisor) "
            + "(\(Size.text(part)))" + (part < 1 ? ", and at least 1 B" : "")
    }
}

/// One tier of the share computation; see `CapacityModel`.
struct ShareTier: Hashable {
    /// The bounds of the tier, in bytes that are the cache's own or available; `end` is `nil` for the last.
    let start: Int64
    let end: Int64?
    let perMille: Int64
    /// The bytes that are the cache's own or available.
    fileprivate let ownOrFree: Int64

    var amount: Int64 { max(0, min(ownOrFree, end ?? .max) - start) }
    var bytes: Int64 { amount.perMille(perMille) }

    static func tiers(of model: CapacityModel, ownOrFree: Int64) -> [ShareTier] {
        let (first, second) = (model.firstShareEnd, model.secondShareEnd)
        return [
            (0, first, model.firstSharePerMille), (first, second, model.secondSharePerMille),
            (second, nil, model.lastSharePerMille),
        ].map { ShareTier(start: $0, end: $1, perMille: $2, ownOrFree: ownOrFree) }
    }

    /// `6.0 GiB (10 % of the next 60 GiB)`
    var text: String {
        let size = Size.text(amount)
        let part =
            switch (start, end) {
            case (0, _?): "the first \(size)"
            case (_, _?): "the next \(size)"
            case (_, nil): "the \(size) above \(Size.text(start))"
            }
        return "\(Size.text(bytes)) (\(Percent.text(perMille)) of \(part))"
    }
}
