import Contenders
import Foundation
@_spi(Simulation) import PrefetchCaching

/// One trace, replayed through the product's own simulation.
struct Replay {
    let capacity: ByteCount
    let policy: EvictionPolicyChoice
    let folder: URL

    func run(_ trace: String) throws -> ReplayReport {
        let input = try TraceInput(trace)
        let simulation = try EvictionSimulation(
            capacity: capacity, policy: policy, in: .container(at: folder))
        let progress = ProgressLine()
        defer { progress.clear() }
        var reader = TraceReader()
        let clock = ContinuousClock()
        let start = clock.now
        try input.forEachPiece { piece in
            try reader.read(piece, simulation.request)
            progress.show("\(max(0, reader.lines - 1)) requests")
        }
        try reader.finish(simulation.request)
        let result = try simulation.result()
        return ReplayReport(
            result, policy: policy, capacity: capacity, elapsed: start.duration(to: clock.now))
    }
}
