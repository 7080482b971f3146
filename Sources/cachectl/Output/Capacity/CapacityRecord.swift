internal import PrefetchCache

/// The capacity as JSON.
struct CapacityRecord: Encodable {
    let totalBytes: Int64
    let availableBytes: Int64
    let evictableBytes: Int64
    let purgeableBytes: Int64
    let pressure: String
    /// The available bytes at which the level ends; `null` for the normal level.
    let pressureEndsAtBytes: Nullable<Int64>
    let thresholds: ThresholdsRecord
    let derivation: DerivationRecord
    let budget: String
    let budgetBytes: Int64
    let budgetCapBytes: Nullable<Int64>
    let usage: UsageRecord
    /// The name of the reason for which nothing is admitted, or `null`.
    let refusal: Nullable<String>
    let refusalMessage: Nullable<String>
    /// The constants of the model.
    let model: CapacityModel

    init(_ report: CapacityReport, _ configuration: CacheConfiguration) {
        let capacity = report.capacity
        totalBytes = capacity.state.total
        availableBytes = capacity.state.available
        evictableBytes = capacity.state.evictable
        purgeableBytes = capacity.state.purgeable
        pressure = report.pressure.rawValue
        pressureEndsAtBytes = Nullable(capacity.thresholds.end(of: report.pressure))
        thresholds = ThresholdsRecord(capacity.thresholds)
        derivation = DerivationRecord(capacity, configuration.capacityModel)
        budget = report.configuredBudget.name
        budgetBytes = report.budgetBytes
        budgetCapBytes = Nullable(report.configuredBudget.capBytes)
        usage = UsageRecord(report)
        let closure = Closure(report)
        refusal = Nullable(closure?.reason)
        refusalMessage = Nullable(closure?.message)
        model = configuration.capacityModel
    }
}

struct ThresholdsRecord: Encodable {
    struct BandRecord: Encodable {
        let enterBytes: Int64
        let leaveBytes: Int64

        init(_ band: PressureThresholds.Band) {
            enterBytes = band.enter
            leaveBytes = band.leave
        }
    }

    let elevated: BandRecord
    let low: BandRecord
    let critical: BandRecord

    init(_ thresholds: PressureThresholds) {
        elevated = BandRecord(thresholds.elevated)
        low = BandRecord(thresholds.low)
        critical = BandRecord(thresholds.critical)
    }
}

/// Every step from the free space to an automatic budget.
struct DerivationRecord: Encodable {
    struct TierRecord: Encodable {
        let fromBytes: Int64
        let toBytes: Nullable<Int64>
        let perMille: Int64
        let amountBytes: Int64
        let shareBytes: Int64

        init(_ tier: ShareTier) {
            fromBytes = tier.start
            toBytes = Nullable(tier.end)
            perMille = tier.perMille
            amountBytes = tier.amount
            shareBytes = tier.bytes
        }
    }

    let lowBytes: Int64
    let reserveBytes: Int64
    let importantBytes: Int64
    let isImportantReported: Bool
    let opportunisticBytes: Int64
    let isOpportunisticReported: Bool
    let ownOrFreeBytes: Int64
    let roomBytes: Int64
    let shareBytes: Int64
    let shareTiers: [TierRecord]
    let capBytes: Int64
    let quantumBytes: Int64
    /// The automatic budget, whether or not it is in force.
    let budgetBytes: Int64

    init(_ capacity: Capacity, _ model: CapacityModel) {
        lowBytes = capacity.low
        reserveBytes = capacity.reserve
        importantBytes = capacity.important
        isImportantReported = capacity.isImportantReported
        opportunisticBytes = capacity.opportunistic
        isOpportunisticReported = capacity.isOpportunisticReported
        ownOrFreeBytes = capacity.ownOrFree
        roomBytes = capacity.room
        shareBytes = capacity.share
        shareTiers = ShareTier.tiers(of: model, ownOrFree: capacity.ownOrFree).map(TierRecord.init)
        capBytes = capacity.cap
        quantumBytes = capacity.quantum
        budgetBytes = capacity.budget
    }
}

/// The use of the budget.
struct UsageRecord: Encodable {
    let ceilingBytes: Int64
    let largestItemBytes: Int64
    let chargedBytes: Int64
    let heldBytes: Int64
    let catalogBytes: Int64
    let freeBytes: Int64

    init(_ report: CapacityReport) {
        ceilingBytes = report.ceilingBytes
        largestItemBytes = report.largestItemBytes
        chargedBytes = report.chargedBytes
        heldBytes = report.heldBytes
        catalogBytes = report.catalogBytes
        freeBytes = report.freeBytes
    }
}
