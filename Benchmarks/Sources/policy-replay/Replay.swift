import Contenders
import Foundation
@_spi(Simulation) import PrefetchCaching

/// One trace, replayed through the product's own simulation.
struct Replay {
    let capacity: ByteCount
    let policy: EvictionPolicyChoice
    let usesGate: Bool
    /// In milliseconds.
    let warmUp: Int64
    let folder: URL

    func run(_ trace: String) throws -> ReplayReport {
        let input = try TraceInput(trace)
        let areas = try StorageAreas.container(at: folder)
        // Only one of them is used, according to the header.
        let requests = try EvictionSimulation(capacity: capacity, policy: policy, in: areas)
        let prefetching = try PrefetchSimulation(
            capacity: capacity, policy: policy, usesGate: usesGate, warmUp: warmUp, in: areas)
        let progress = ProgressLine()
        defer { progress.clear() }
        var reader = TraceReader()
        var journal: [JournalLine] = []
        let clock = ContinuousClock()
        let start = clock.now
        let take = { (line: TraceLine) throws -> Void in
            switch line {
            case .request(let key, let size): try requests.request(key, size: size)
            case .arrive(let key, let source, let size, let time):
                try prefetching.arrive(key, source: source, size: size, at: time)
            case .open(let key, let time): try prefetching.open(key, at: time)
            case .gone(let key, let time): try prefetching.replace(key, at: time)
            case .event(let line): journal.append(line)
            }
        }
        try input.forEachPiece { piece in
            try reader.read(piece, take)
            progress.show("\(reader.lines) lines")
        }
        try reader.finish(take)
        try JournalReplay.run(journal, in: prefetching)
        let elapsed = start.duration(to: clock.now)
        guard reader.kind != .requests else {
            guard !usesGate, warmUp == 0 else {
                throw ReplayFailure(
                    .damaged,
                    "--gate and --warm-up need a trace of prefetching: \(TraceKind.prefetching.rawValue), or a journal"
                )
            }
            return ReplayReport(try requests.result(), policy, capacity, elapsed)
        }
        return ReplayReport(prefetching.result, policy, capacity, usesGate: usesGate, elapsed)
    }
}
