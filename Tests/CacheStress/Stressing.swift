internal import PrefetchCache

/// What came of a task's work.
protocol StressReporting: Codable, Sendable {
    /// How often the system took away what was under way.
    var purged: Int { get set }
    /// What must never be.
    var faults: [String] { get set }
}

/// A task that uses the cache step by step until its time is over.
protocol Stressing {
    associatedtype Report: StressReporting
    /// Whether a purger is at work as well: what it takes is no fault.
    var isPurged: Bool { get }
    var report: Report { get set }
    mutating func step() async throws
}

extension Stressing {
    mutating func work(until deadline: ContinuousClock.Instant) async {
        while ContinuousClock.now < deadline {
            do {
                try await step()
            } catch let error as CacheError where isPurged && error.isOfPurge {
                report.purged += 1
            } catch {
                report.faults.append("\(error)")
            }
        }
    }
}
