internal import PrefetchCache

/// The steps from a volume's free space to an automatic budget, as text, each with its arithmetic.
struct Derivation {
    struct Step: Hashable {
        let name: String
        let bytes: Int64
        let explanation: String
    }

    private let capacity: Capacity
    private let model: CapacityModel

    init(_ capacity: Capacity, _ model: CapacityModel) {
        self.capacity = capacity
        self.model = model
    }

    var steps: [Step] {
        [
            Step(name: "low", bytes: capacity.low, explanation: low),
            Step(name: "reserve", bytes: capacity.reserve, explanation: reserve),
            Step(name: "important", bytes: capacity.important, explanation: important),
            Step(name: "opportunistic", bytes: capacity.opportunistic, explanation: opportunistic),
            Step(name: "U + A", bytes: capacity.ownOrFree, explanation: ownOrFree),
            Step(name: "room", bytes: capacity.room, explanation: room),
            Step(name: "share", bytes: capacity.share, explanation: share),
            Step(name: "cap", bytes: capacity.cap, explanation: cap),
            Step(
                name: "smallest", bytes: smallest.bytes,
                explanation: "of room, share and cap: \(smallest.name)"),
            Step(name: "quantum", bytes: capacity.quantum, explanation: quantum),
            Step(name: "budget", bytes: capacity.budget, explanation: budget),
        ]
    }

    private var total: Int64 { capacity.state.total }
    private var own: String { Size.text(capacity.state.evictable) }
    private var available: String { Size.text(capacity.state.available) }

    private var low: String {
        part(model.lowPerMille, limit: model.lowLimit) + "; with less the volume is nearly full"
    }

    private var reserve: String {
        part(model.reservePerMille, limit: model.reserveLimit) + "; opportunistic items leave it free"
    }

    private func part(_ perMille: Int64, limit: Int64) -> String {
        let part = Size.text(total.perMille(perMille))
        return "the smaller of \(Percent.text(perMille)) of the volume (\(part)) and \(Size.text(limit))"
    }

    private var important: String {
        let purpose = "for requested items: "
        if capacity.isImportantReported { return purpose + "reported by the system, not computed" }
        let state = capacity.state
        let purgeable = state.purgeable > 0 ? " + purgeable \(Size.text(state.purgeable))" : ""
        let sum =
            Int128(state.available) + Int128(state.evictable) + Int128(state.purgeable)
            - Int128(capacity.low)
        return purpose + "available \(available) + ours \(own)\(purgeable) − low \(Size.text(capacity.low))"
            + bound(sum, capacity.important, upper: "the volume")
    }

    private var opportunistic: String {
        let purpose = "for opportunistic items: "
        if capacity.isOpportunisticReported { return purpose + "reported by the system, not computed" }
        let difference = Int128(capacity.state.available) - Int128(capacity.reserve)
        return purpose + "available \(available) − reserve \(Size.text(capacity.reserve))"
            + bound(difference, capacity.opportunistic, upper: "important")
    }

    private var ownOrFree: String {
        let sum = Int128(capacity.state.evictable) + Int128(capacity.state.available)
        return "ours \(own) + available \(available)" + bound(sum, capacity.ownOrFree, upper: "the volume")
    }

    private var room: String {
        if capacity.isOpportunisticReported {
            let sum = Int128(capacity.state.evictable) + Int128(capacity.opportunistic)
            return
                "ours \(own) + opportunistic \(Size.text(capacity.opportunistic)), as reported by the system"
                + bound(sum, capacity.room, upper: "the volume")
        }
        let difference = Int128(capacity.ownOrFree) - Int128(capacity.reserve)
        return "U + A \(Size.text(capacity.ownOrFree)) − reserve \(Size.text(capacity.reserve))"
            + bound(difference, capacity.room, upper: "the volume")
    }

    /// The bound that limited a difference or a sum.
    private func bound(_ computed: Int128, _ bytes: Int64, upper: String) -> String {
        if computed < Int128(bytes) { return ", and at least \(Size.text(bytes))" }
        return computed > Int128(bytes) ? ", and at most \(upper)" : ""
    }

    private var share: String {
        let tiers = ShareTier.tiers(of: model, ownOrFree: capacity.ownOrFree).filter { $0.amount > 0 }
        return tiers.isEmpty ? "of U + A, which is nothing" : tiers.map(\.text).joined(separator: " + ")
    }

    private var cap: String {
        capacity.cap < model.cap
            ? "as configured; otherwise \(Size.text(model.cap))" : "the most on any volume"
    }

    private var smallest: (name: String, bytes: Int64) {
        let bytes = min(capacity.room, capacity.share, capacity.cap)
        let name = bytes == capacity.room ? "room" : bytes == capacity.share ? "share" : "cap"
        return (name, bytes)
    }

    private var quantum: String {
        let part = total / model.quantumDivisor
        return "the smaller of \(Size.text(model.quantumLimit)) and the volume ÷ \(model.quantumDivisor) "
            + "(\(Size.text(part)))" + (part < 1 ? ", and at least 1 B" : "")
    }

    private var budget: String {
        let count = capacity.budget / capacity.quantum
        return "\(smallest.name) \(Size.text(smallest.bytes)), rounded down to \(count) × the quantum"
    }
}

/// One of the tiers that add up to a share of the bytes that are the cache's own or available.
struct ShareTier: Hashable {
    /// The start and the end of the tier, in bytes that are the cache's own or available; the last has no end.
    let start: Int64
    let end: Int64?
    let perMille: Int64
    /// The bytes within the tier.
    let amount: Int64
    /// The bytes of the tier that the cache may take.
    let bytes: Int64

    private init(_ start: Int64, _ end: Int64?, perMille: Int64, of ownOrFree: Int64) {
        self.start = start
        self.end = end
        self.perMille = perMille
        amount = max(0, min(ownOrFree, end ?? .max) - start)
        bytes = amount.perMille(perMille)
    }

    /// The tiers of a model in their order.
    static func tiers(of model: CapacityModel, ownOrFree: Int64) -> [ShareTier] {
        let (first, second) = (model.firstShareEnd, model.secondShareEnd)
        return [
            ShareTier(0, first, perMille: model.firstSharePerMille, of: ownOrFree),
            ShareTier(first, second, perMille: model.secondSharePerMille, of: ownOrFree),
            ShareTier(second, nil, perMille: model.lastSharePerMille, of: ownOrFree),
        ]
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
