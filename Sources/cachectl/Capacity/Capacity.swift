internal import ArgumentParser
internal import PrefetchCaching

struct CapacityCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity", abstract: "Shows how much of its volume the cache may take.",
        discussion: """
            U + A is the space that is the cache's own or available: items, work under way and free space. What is \
            charged is what files take of the volume: whole blocks, and 512 bytes for the name of each. Sizes are rounded; --json prints exact bytes.

            EXAMPLES:
              # Show how the budget is computed
              cachectl capacity --app org.example.app
              # What would it be if only 2 GB were free?
              cachectl capacity --free 2GB --app org.example.app
            """)

    @Option("As if so much could still be written to the volume.", "size", parse: ByteSize.parse)
    var free: ByteCount?

    @OptionGroup var shared: SharedOptions

    var isLooking: Bool { true }

    func perform(on cache: PrefetchCache, at place: Place, to output: Output) async throws {
        let report = try await cache.capacity(available: free)
        let configuration = try await cache.configuration()
        try output.report(
            report.json(configuration.capacityModel),
            CapacityTable(report: report, configuration: configuration).lines)
    }
}

extension CapacityReport {
    func json(_ model: CapacityModel) -> JSONObject {
        let (state, thresholds) = (capacity.state, capacity.thresholds)
        let block = admissionBlock
        let tiers: [JSONObject] = ShareTier.tiers(of: model, ownOrFree: capacity.ownOrFree).map {
            [
                "fromBytes": $0.start, "toBytes": $0.end.orNull, "perMille": $0.perMille,
                "amountBytes": $0.amount, "shareBytes": $0.bytes,
            ]
        }
        // Every step from free space to an automatic budget, even if the budget is fixed.
        let derivation: JSONObject = [
            "lowBytes": capacity.low, "reserveBytes": capacity.reserve, "importantBytes": capacity.important,
            "isImportantReported": capacity.isImportantReported, "opportunisticBytes": capacity.opportunistic,
            "isOpportunisticReported": capacity.isOpportunisticReported, "ownOrFreeBytes": capacity.ownOrFree,
            "roomBytes": capacity.room, "shareBytes": capacity.share, "shareTiers": tiers,
            "capBytes": capacity.cap, "quantumBytes": capacity.quantum, "budgetBytes": capacity.budget,
        ]
        return [
            "totalBytes": state.total, "availableBytes": state.available, "evictableBytes": state.evictable,
            "purgeableBytes": state.purgeable, "pressure": pressure.rawValue,
            // Available bytes at which the level ends; `null` for the normal level.
            "pressureEndsAtBytes": thresholds.end(of: pressure).orNull,
            "thresholds": [
                "elevated": thresholds.elevated.json, "low": thresholds.low.json,
                "critical": thresholds.critical.json,
            ] as JSONObject,
            "derivation": derivation, "budget": configuredBudget.name, "budgetBytes": budgetBytes,
            "budgetCapBytes": configuredBudget.capBytes.orNull,
            "usage": [
                "ceilingBytes": ceilingBytes, "largestItemBytes": largestItemBytes,
                "chargedBytes": chargedBytes, "heldBytes": heldBytes, "catalogBytes": catalogBytes,
                "freeBytes": freeBytes,
            ] as JSONObject,
            "refusal": (block?.reason).orNull, "refusalMessage": (block?.message).orNull, "model": model,
        ]
    }

    /// Why no item is admitted, and the name under which such a refusal is counted; `nil` when something is admitted.
    var admissionBlock: (reason: String, message: String)? {
        if let refusal { return (refusal.reason, refusal.description) }
        // Every item is charged more than the file system's overhead.
        let smallestCharge = ChargedLength.overhead
        if ceilingBytes - heldBytes - catalogBytes <= smallestCharge {
            let ceiling = Size.text(ceilingBytes)
            return (
                "overBudget",
                budgetBytes <= ceilingBytes
                    ? "the budget of \(ceiling) has no room for an item in addition to the catalog"
                    : "the volume can spare \(ceiling), which leaves no room for an item in addition to the catalog"
            )
        }
        guard largestItemBytes <= smallestCharge else { return nil }
        return ("largerThanLargestItem", "the largest-item limit is too small for any item")
    }
}

extension Pressure {
    /// The meaning of the level; `nil` for the normal level.
    func meaning(_ thresholds: PressureThresholds) -> String? {
        switch self {
        case .normal: nil
        case .elevated:
            "the reserve is in use; nothing new is admitted, and the coldest items are evicted while it is"
        case .low:
            "the volume is nearly full; nothing new is admitted, and the coldest items are evicted until "
                + "\(Size.text(thresholds.low.leave)) are available"
        case .critical:
            "the volume is practically full; nothing new is admitted, and everything not pinned is evicted"
        }
    }
}

extension PressureThresholds {
    /// The levels with their thresholds, mildest first.
    var bands: [(level: Pressure, band: Band)] {
        [(.elevated, elevated), (.low, low), (.critical, critical)]
    }

    /// Available bytes at which a level ends; `nil` for the normal level.
    func end(of level: Pressure) -> Int64? { bands.first { $0.level == level }.map { $0.band.end } }
}

extension PressureThresholds.Band {
    fileprivate var json: JSONObject { ["enterBytes": enter, "leaveBytes": leave] }

    /// Available bytes at which the level ends once entered.
    var end: Int64 { max(enter, leave) }
}
