internal import PrefetchCache

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
