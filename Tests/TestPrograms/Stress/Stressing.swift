internal import PrefetchCaching

/// What came of a task's work.
protocol StressReporting: Codable, Sendable {
    /// How often the system took away what was under way.
    var purged: Int { get set }
    /// What must never be.
    var faults: [String] { get set }
}

/// A task that uses the cache step by step until its time is over, and on a slow machine until it has made enough of them.
protocol Stressing {
    associatedtype Report: StressReporting
    /// Whether a purger is at work as well: what it takes is no fault.
    var isPurged: Bool { get }
    var report: Report { get set }
    mutating func step() async throws
}

/// So many steps that what a purger takes, which goes by the clock, stays a small part of them.
private let leastSteps = 100

extension Stressing {
    mutating func work(until deadline: ContinuousClock.Instant) async {
        var steps = 0
        while steps < leastSteps || ContinuousClock.now < deadline {
            do {
                try await step()
            } catch {
                report.faults.append("\(error)")
            }
            steps += 1
        }
    }

    /// Stores something, from which the system may take what is under way. Nothing else may fail of that.
    mutating func excusing(_ store: (inout Self) async throws -> Void) async throws {
        do {
            try await store(&self)
        } catch {
            try excuse(error)
        }
    }

    /// - Throws: The error, where it does not come of a purge.
    mutating func excuse(_ error: any Error) throws {
        guard isPurged, let error = error as? CacheError, error.isOfPurge else { throw error }
        report.purged += 1
    }
}
