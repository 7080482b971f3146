internal import PrefetchCache

/// Why no item at all is admitted.
struct Closure {
    /// The name under which a refusal is counted.
    let reason: String
    /// The reason as text.
    let message: String

    /// - Returns: `nil` when something is admitted.
    init?(_ report: CapacityReport) {
        if let refusal = report.refusal {
            reason = refusal.reason
            message = refusal.description
        } else if report.ceilingBytes - report.heldBytes - report.catalogBytes <= Self.smallestCharge {
            let ceiling = Size.text(report.ceilingBytes)
            reason = "overBudget"
            message =
                report.budgetBytes <= report.ceilingBytes
                ? "the budget of \(ceiling) has no room for an item beside the catalog"
                : "the volume can spare \(ceiling), which leaves no room for an item beside the catalog"
        } else if report.largestItemBytes <= Self.smallestCharge {
            reason = "largerThanLargestItem"
            message = "the largest-item limit is too small for any item"
        } else {
            return nil
        }
    }

    /// Every item is charged more than the file system's overhead.
    private static let smallestCharge = ChargedLength.overhead
}
