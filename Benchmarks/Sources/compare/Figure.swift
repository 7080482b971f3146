/// One quantity as measured in several rounds.
struct Figure {
    let median: Double
    let least: Double
    let most: Double

    /// - Precondition: `samples` is not empty.
    init(_ samples: [Double]) {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        least = sorted[0]
        most = sorted[sorted.count - 1]
    }
}
