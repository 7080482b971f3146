import Contenders

/// What came of one number of items.
struct Row {
    let count: Int
    let fill: Filling.Result
    let figures: [Metric: Figure]
    /// To the smallest number of items: the median of the rounds' ratios.
    let ratios: [Metric: Double]
    /// Above that of a process with an empty cache.
    let memory: Figure

    init(_ subject: Subject, smallest: Subject, baseline: Subject) {
        count = subject.count
        fill = subject.fill
        figures = subject.samples.mapValues { Figure($0) }
        ratios = Dictionary(
            uniqueKeysWithValues: subject.samples.compactMap { metric, values in
                guard let least = smallest.samples[metric], !values.isEmpty else { return nil }
                return (metric, Figure(zip(values, least).map { $0 / $1 }).median)
            })
        let pairs = zip(subject.samples[.resident] ?? [], baseline.samples[.resident] ?? [])
        memory = Figure(pairs.map { $0 - $1 })
    }
}

/// What is asked of a cache of any size.
struct Target: Sendable {
    let name: String
    let limit: String
    /// Held by a row when its value is at most this.
    let most: Double
    let value: @Sendable (Row) -> Double?

    static let all = [
        Target(name: "launch", limit: "5 ms", most: 5) { $0.figures[.launch]?.median },
        Target(name: "first read", limit: "2 × that of the smallest", most: 2) { $0.ratios[.firstRead] },
        Target(name: "memory", limit: "8 MiB above an empty cache", most: 8) { $0.memory.median },
        // The folders' own growth is taken out.
        Target(name: "store ÷ floor", limit: "1.1 × that of the smallest", most: 1.1) {
            $0.ratios[.storeToFloor]
        },
        Target(name: "statistics() after a crash", limit: "30 ms", most: 30) {
            $0.figures[.statisticsAfterCrash]?.median
        },
    ]

    /// The row that is worst off.
    func worst(of rows: [Row]) -> (count: Int, value: Double)? {
        rows.compactMap { row in value(row).map { (row.count, $0) } }.max { $0.1 < $1.1 }
    }
}
