/// What a sampler has seen. Amounts are in bytes.
struct SampleReport {
    var samples = 0
    /// The most that one walk added up. A walk takes time: a file that is evicted behind it and one that
    /// takes its place before it are both in the sum, so that this may exceed what ever was there.
    var largestSum: Int64 = 0
    /// How many such sums exceeded the budget.
    var sumsAboveBudget = 0
    /// The most that was certainly there at one moment.
    var largestLowerBound: Int64 = 0
    var lowerBoundsAboveBudget = 0
}

/// Compares what is on disk with a budget while others change it.
///
/// Walks twice. Of a file that both walks find, at least the smaller of its two lengths was there at the
/// moment between the walks, and so were all those files together: their sum is a lower bound for that
/// one moment. A file counts as its charge, a whole number of blocks and its inode; the catalog as its
/// length. The journal comes and goes, and is looked at just in that moment.
struct Sampler {
    let budget: Int64
    private(set) var report = SampleReport()

    init(budget: Int64) {
        self.budget = budget
    }

    /// - Parameters:
    ///   - root: The cache's folder in Caches.
    ///   - least: Goes on until so many bytes were there at once, for at most two minutes.
    mutating func sample(_ root: String, until deadline: ContinuousClock.Instant, least: Int64 = 0) throws {
        repeat {
            try sample(root)
        } while ContinuousClock.now < deadline
            || report.largestLowerBound < least && ContinuousClock.now < deadline + .seconds(120)
    }

    private mutating func sample(_ root: String) throws {
        let first = try Walk(root)
        let journal = try Walk.length(of: root + "/catalog.sqlite-journal")
        let second = try Walk(root)

        let sum = first.sum + journal
        let bound = first.lowerBound(with: second) + journal
        report.samples += 1
        report.largestSum = max(report.largestSum, sum)
        report.largestLowerBound = max(report.largestLowerBound, bound)
        if sum > budget { report.sumsAboveBudget += 1 }
        if bound > budget { report.lowerBoundsAboveBudget += 1 }
    }
}
