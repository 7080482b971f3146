import Contenders
import Foundation

/// How long one call after the other took, in microseconds.
struct Latencies: Sendable {
    var times: [Double] = []

    /// Runs `body` and notes how long it took, and how much later than it should have it began.
    mutating func time<Result>(after delay: Duration = .zero, _ body: () async throws -> Result)
        async rethrows -> Result
    {
        let start = ContinuousClock.now
        let result = try await body()
        times.append((ContinuousClock.now - start + delay) / .microseconds(1))
        return result
    }

    /// The least that so many of a hundred do not exceed.
    func percentiles(_ percentages: [Double]) -> [Double] {
        let sorted = times.sorted()
        return percentages.map { sorted[max(0, Int(($0 / 100 * Double(sorted.count)).rounded(.up)) - 1)] }
    }
}

/// What is called and timed.
enum Call: String, CaseIterable, Sendable {
    case readIdle = "read"
    case readEvicting = "read while eviction runs"
    case readComputing = "read while cores are busy"
    case readStoring = "read while 8 tasks store"
    case store = "store"
    /// Of the task that stores beside the reads.
    case storeEvicting = "store that evicts"
    case storePaced = "store every 0.5 ms"
    case storeTrimming = "the same, full cache"
    case open = "open"
}

/// What came of one round. Each has all calls.
typealias Round = [Call: Latencies]

/// A table of all rounds together, and how the 99th percentiles compare.
func report(_ rounds: [Round]) -> String {
    func latencies(_ call: Call) -> Latencies {
        Latencies(times: rounds.flatMap { $0[call]?.times ?? [] })
    }
    let rows = Call.allCases.map { call in
        let all = latencies(call)
        return [call.rawValue, String(all.times.count)]
            + all.percentiles([50, 90, 99, 99.9, 100]).map { String(format: "%.1f", $0) }
    }
    let ratios: [(Call, to: Call)] = [
        (.readEvicting, .readIdle), (.readStoring, .readIdle), (.readComputing, .readIdle),
        (.storeEvicting, .store), (.storeTrimming, .storePaced),
    ]
    let lines = ratios.map { call, other in
        func ratio(_ one: Latencies?, _ other: Latencies?) -> Double {
            (one?.percentiles([99])[0] ?? .nan) / (other?.percentiles([99])[0] ?? .nan)
        }
        let figure = Figure(rounds.map { ratio($0[call], $0[other]) })
        return "p99, \(call.rawValue) ÷ \(other.rawValue): \(figure.text(digits: 2))"
            + String(format: "; all rounds together %.2f", ratio(latencies(call), latencies(other)))
    }
    let head = ["16 KiB text, µs", "calls", "p50", "p90", "p99", "p99.9", "max"]
    return ([textTable([head] + rows, leading: 1), ""] + lines).joined(separator: "\n")
}
