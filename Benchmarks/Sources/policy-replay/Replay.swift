import Foundation
@_spi(Simulation) import PrefetchCaching

/// One trace, replayed through the product's own simulation.
struct Replay {
    let capacity: ByteCount
    let policy: ReplayPolicy
    let usesGate: Bool
    /// In milliseconds.
    let warmUp: Int64
    let folder: URL

    func run(_ trace: String) throws -> ReplayReport {
        let trace = try Trace(trace)
        guard !trace.isOfRequests || !usesGate && warmUp == 0 else {
            throw ReplayFailure(
                .damaged,
                "--gate and --warm-up need a trace of prefetching: \(Trace.prefetching), or a journal")
        }
        guard trace.isOfRequests || policy.choice != nil else {
            throw ReplayFailure(.damaged, "--policy \(policy.rawValue) needs a trace of requests")
        }
        let prefetching = try PrefetchSimulation(
            capacity: capacity, policy: policy.choice ?? .lru, usesGate: usesGate, warmUp: warmUp,
            in: try StorageAreas.container(at: folder))
        var requests = RequestReplay(
            policy.choice == nil
                ? .model(ModelCache(capacity: capacity.bytes, sparesUsed: policy == .sieve))
                : .real(prefetching))
        var journal: [JournalLine] = []
        let start = ContinuousClock.now
        for line in trace.lines {
            switch line {
            case .request(let key, let size): try requests.request(key, size: size)
            case .arrive(let key, let source, let size, let time):
                try prefetching.arrive(key, source: source, size: size, at: time)
            case .open(let key, let time): try prefetching.open(key, at: time)
            case .gone(let key, let time): try prefetching.replace(key, at: time)
            case .event(let line): journal.append(line)
            }
        }
        try JournalReplay.run(journal, in: prefetching)
        let elapsed = ContinuousClock.now - start
        var report = ReplayReport(policy, capacity, elapsed)
        if trace.isOfRequests {
            requests.tell(&report)
        } else {
            report.tell(prefetching.result, usesGate: usesGate)
        }
        return report
    }
}
