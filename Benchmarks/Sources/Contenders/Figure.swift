/// One quantity as measured in several rounds.
public struct Figure: Sendable {
    public let median: Double
    public let least: Double
    public let most: Double
    public let lowerQuartile: Double
    public let upperQuartile: Double

    /// - Precondition: `samples` is not empty.
    public init(_ samples: [Double]) {
        let sorted = samples.sorted()
        median = Self.quantile(0.5, of: sorted)
        least = sorted[0]
        most = sorted[sorted.count - 1]
        lowerQuartile = Self.quantile(0.25, of: sorted)
        upperQuartile = Self.quantile(0.75, of: sorted)
    }

    /// Between two samples the line that joins them counts.
    private static func quantile(_ share: Double, of sorted: [Double]) -> Double {
        let place = share * Double(sorted.count - 1)
        let below = Int(place)
        guard below + 1 < sorted.count else { return sorted[below] }
        return sorted[below] + (sorted[below + 1] - sorted[below]) * (place - Double(below))
    }
}
