internal import PrefetchCaching

/// The steps from a volume's free space to an automatic budget, with their arithmetic as text.
struct Derivation {
    typealias Step = (name: String, bytes: Int64, explanation: String)

    let capacity: Capacity
    let model: CapacityModel

    var steps: [Step] {
        let tiers = ShareTier.tiers(of: model, ownOrFree: capacity.ownOrFree).filter { $0.amount > 0 }
        let smallest = min(capacity.room, capacity.share, capacity.cap)
        let smallestName =
            smallest == capacity.room ? "room" : smallest == capacity.share ? "share" : "cap"
        let quanta = capacity.budget / capacity.quantum
        return [
            ("low", capacity.low, low + "; with less the volume is nearly full"),
            ("reserve", capacity.reserve, reserve + "; opportunistic items leave it free"),
            ("important", capacity.important, "for requested items: " + important),
            ("opportunistic", capacity.opportunistic, "for opportunistic items: " + opportunistic),
            ("U + A", capacity.ownOrFree, ownOrFree),
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
                "\(smallestName) \(Size.text(smallest)), rounded down to \(quanta) × the quantum"
            ),
        ]
    }

    private var state: VolumeState { capacity.state }
    private var own: String { Size.text(state.evictable) }
    private var available: String { Size.text(state.available) }

    private var low: String { part(model.lowPerMille, limit: model.lowLimit) }

    private var reserve: String { part(model.reservePerMille, limit: model.reserveLimit) }

    private func part(_ perMille: Int64, limit: Int64) -> String {
        let part = Size.text(state.total.perMille(perMille))
        return "the smaller of \(Percent.text(perMille)) of the volume (\(part)) and \(Size.text(limit))"
    }

    private var important: String {
        if capacity.isImportantReported { return "reported by the system, not computed" }
        let purgeable = state.purgeable > 0 ? " + purgeable \(Size.text(state.purgeable))" : ""
        let sum =
            Int128(state.available) + Int128(state.evictable) + Int128(state.purgeable)
            - Int128(capacity.low)
        return "available \(available) + ours \(own)\(purgeable) − low \(Size.text(capacity.low))"
            + bound(sum, capacity.important, upper: "the volume")
    }

    private var opportunistic: String {
        if capacity.isOpportunisticReported { return "reported by the system, not computed" }
        let difference = Int128(state.available) - Int128(capacity.reserve)
        return "available \(available) − reserve \(Size.text(capacity.reserve))"
            + bound(difference, capacity.opportunistic, upper: "important")
    }

    private var ownOrFree: String {
        let sum = Int128(state.evictable) + Int128(state.available)
        return "ours \(own) + available \(available)" + bound(sum, capacity.ownOrFree, upper: "the volume")
    }

    private var room: String {
        if capacity.isOpportunisticReported {
            let sum = Int128(state.evictable) + Int128(capacity.opportunistic)
            return
                "ours \(own) + opportunistic \(Size.text(capacity.opportunistic)), as reported by the system"
                + bound(sum, capacity.room, upper: "the volume")
        }
        let difference = Int128(capacity.ownOrFree) - Int128(capacity.reserve)
        return "U + A \(Size.text(capacity.ownOrFree)) − reserve \(Size.text(capacity.reserve))"
            + bound(difference, capacity.room, upper: "the volume")
    }

    /// Describes the bound that `computed` was clamped to, if any.
    private func bound(_ computed: Int128, _ bytes: Int64, upper: String) -> String {
        if computed < Int128(bytes) { return ", and at least \(Size.text(bytes))" }
        return computed > Int128(bytes) ? ", and at most \(upper)" : ""
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

    /// The bytes within the tier.
    var amount: Int64 { max(0, min(ownOrFree, end ?? .max) - start) }
    /// The bytes of the tier that the cache may use.
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
