public import Foundation

/// Runs contenders against each other so that a machine whose speed drifts hits them alike.
///
/// Within a round all contenders do one job before any does the next, and who goes first changes from
/// round to round. Before each turn the machine writes back what is dirty, so that nobody's `fsync` pays
/// for somebody else's data. A round that is not counted comes first: it warms up, and what the contenders
/// made is checked in it.
public struct Race {
    public let entries: [Entry]
    /// Measured rounds.
    public let rounds: Int
    private let workspace: Workspace

    public init(_ entries: [Entry], rounds: Int, in workspace: Workspace) {
        self.entries = entries
        self.rounds = rounds
        self.workspace = workspace
    }

    /// Somebody in one round.
    public struct Runner {
        public let entry: Entry
        public let home: URL
        public let contender: any Contender
    }

    /// What all do before any does the next.
    public struct Step {
        let name: String
        let unit: Comparison.Unit
        let isReported: Bool
        let measure: (Runner) async throws -> Double

        /// - Parameters:
        ///   - isReported: Whether it is wanted. The first step is taken in any case, and all are in the round that is not counted.
        ///   - measure: Has somebody take it, and returns the figure.
        public init(
            _ name: String, unit: Comparison.Unit = .microseconds, isReported: Bool = true,
            measure: @escaping (Runner) async throws -> Double
        ) {
            (self.name, self.unit, self.isReported, self.measure) = (name, unit, isReported, measure)
        }
    }

    /// - Parameter check: What somebody made in the round that is not counted.
    /// - Returns: A comparison for each step that is wanted.
    public func run(
        _ workload: Workload, by tasks: Int = 1, _ steps: [Step],
        check: (Runner) async throws -> Void = { _ in }
    ) async throws -> [Comparison] {
        let samples = try await samples(of: workload, steps, check)
        return zip(steps, samples).filter { $0.0.isReported }.map { step, rounds in
            Comparison(
                job: step.name, unit: step.unit, material: workload.material, size: workload.size,
                tasks: tasks,
                figures: entries.enumerated().map { index, entry in
                    (entry.name, Figure(rounds.map { $0[index] }))
                })
        }
    }

    /// - Returns: The figures of each step, round by round, in the order of the entries.
    private func samples(
        of workload: Workload, _ steps: [Step], _ check: (Runner) async throws -> Void
    ) async throws -> [[[Double]]] {
        var samples = steps.map { _ in [[Double]]() }
        for round in 0...rounds {
            var runners: [Runner] = []
            for entry in entries {
                // In a part of the volume of its own: files that one has just deleted must not slow down another one.
                let home = try workspace.makeFolder()
                let contender = try await entry.naming { try await entry.enter(home, workload) }
                runners.append(Runner(entry: entry, home: home, contender: contender))
            }
            for (number, step) in steps.enumerated() where step.isReported || number == 0 || round == 0 {
                var figures = entries.map { _ in 0.0 }
                for index in Self.order(of: entries.count, in: round) {
                    sync()
                    let runner = runners[index]
                    figures[index] = try await runner.entry.naming {
                        try await withTaskExecutorPreference(runner.contender.executor) {
                            try await step.measure(runner)
                        }
                    }
                }
                if round > 0 { samples[number].append(figures) }
            }
            for runner in runners {
                try await runner.entry.naming {
                    if round == 0 { try await check(runner) }
                    try await runner.contender.leave()
                }
            }
            let homes = runners.map(\.home)
            // Databases close their files when they are gone.
            runners = []
            for home in homes { workspace.empty(home) }
        }
        return samples
    }

    /// Forwards in one round and backwards in the next, each time beginning one further.
    public static func order(of count: Int, in round: Int) -> [Int] {
        let rotated = (0..<count).map { ($0 + round / 2) % count }
        return round.isMultiple(of: 2) ? rotated : rotated.reversed()
    }
}

extension Entry {
    /// Says whose error it is.
    fileprivate func naming<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            throw ContenderError("\(name): \(error)")
        }
    }
}

/// The outcome for one job on one kind of item.
public struct Comparison {
    /// What its figures are, per item.
    public enum Unit: Sendable {
        case microseconds, bytes
    }

    public let job: String
    public let unit: Unit
    public let material: Material
    /// Bytes per item.
    public let size: Int
    /// How many tasks shared the items.
    public let tasks: Int
    /// That of the floor, or of ours where there is no floor, and those of all others, which are shown as multiples of it.
    public let figures: [(name: String, figure: Figure)]

    public var base: Figure { figures[0].figure }

    /// Our median.
    public var ours: Double { figure(of: Entry.ourName)?.median ?? .nan }

    public func figure(of name: String) -> Figure? { figures.first { $0.name == name }?.figure }
}

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

    /// The median, with the least and the most in brackets.
    public func text(digits: Int) -> String {
        func text(_ value: Double) -> String { String(format: "%.\(digits)f", value) }
        return "\(text(median)) (\(text(least))–\(text(most)))"
    }
}
