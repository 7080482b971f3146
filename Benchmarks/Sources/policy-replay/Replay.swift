import ArgumentParser
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
        let trace = try Trace(trace)
        guard !trace.isOfRequests || !usesGate && warmUp == 0 else {
            throw ValidationError(
                "--gate and --warm-up need a trace of prefetching: \(Trace.prefetching), or a journal")
        }
        let simulation = try PrefetchSimulation(
            capacity: capacity, policy: policy, usesGate: usesGate, warmUp: warmUp,
            in: try StorageAreas.container(at: folder))
        var report = ReplayReport(policy: policy.rawValue, capacityBytes: capacity.bytes)
        var requests = RequestReplay(simulation)
        var journal: [JournalLine] = []
        let start = ContinuousClock.now
        for line in trace.lines {
            switch line {
            case .request(let key, let size): try requests.request(key, size: size, &report)
            case .arrive(let key, let source, let size, let time):
                try simulation.arrive(key, source: source, size: size, at: time)
            case .open(let key, let time): try simulation.open(key, at: time)
            case .gone(let key, let time): try simulation.replace(key, at: time)
            case .event(let line): journal.append(line)
            }
        }
        try JournalReplay.run(journal, in: simulation)
        // More digits would say more than the clock knows.
        report.seconds = ((ContinuousClock.now - start) / .milliseconds(1)).rounded() / 1000
        if trace.isOfRequests {
            requests.tell(&report)
        } else {
            report.tell(simulation.result, usesGate: usesGate)
        }
        return report
    }
}

/// Requests of a cache, all of which count: a hit is a use, and a miss stores what fits.
private struct RequestReplay {
    private let simulation: PrefetchSimulation
    private var requests: Int64 = 0
    private var sizes: [ItemKey: Int64] = [:]
    private var stored = 0

    init(_ simulation: PrefetchSimulation) { self.simulation = simulation }

    mutating func request(_ key: ItemKey, size: Int64, _ report: inout ReplayReport) throws {
        requests += 1
        guard simulation.place(of: key) != .cached else {
            report.hits += 1
            report.hitBytes += size
            return try simulation.read(key, at: 0)
        }
        try simulation.arrive(key, source: "", size: size, at: 0)
        guard simulation.place(of: key) == .cached else { return }
        sizes[key] = size
        stored += 1
    }

    func tell(_ report: inout ReplayReport) {
        let residents = sizes.filter { simulation.place(of: $0.key) == .cached }
        report.requests = requests
        report.residentItems = residents.count
        report.residentBytes = residents.values.reduce(0, +)
        report.evictions = Int64(stored - residents.count)
    }
}

/// What is printed: one JSON object on one line. What a kind of trace does not tell is left out.
struct ReplayReport: Encodable {
    let policy: String
    let capacityBytes: Int64
    var seconds = 0.0
    var hits: Int64 = 0
    var hitBytes: Int64 = 0

    // Of requests.
    var requests: Int64?
    var evictions: Int64?
    var residentItems: Int?
    var residentBytes: Int64?

    // Of prefetching.
    var gate: Bool?
    var opens: Int64?
    var openBytes: Int64?
    var downloadedBytes: Int64?
    var wastedBytes: Int64?

    mutating func tell(_ result: PrefetchSimulation.Result, usesGate: Bool) {
        (hits, hitBytes) = (result.hits, result.hitBytes)
        (gate, opens, openBytes) = (usesGate, result.opens, result.openBytes)
        (downloadedBytes, wastedBytes) = (result.downloadedBytes, result.wastedBytes)
    }

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
