import Foundation
@_spi(Simulation) import PrefetchCaching

/// What is printed: one JSON object on one line. What a kind of trace does not tell is left out.
struct ReplayReport: Encodable {
    let policy: ReplayPolicy
    let capacityBytes: Int64
    let seconds: Double
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

    init(_ policy: ReplayPolicy, _ capacity: ByteCount, _ elapsed: Duration) {
        self.policy = policy
        capacityBytes = capacity.bytes
        // More digits would say more than the clock knows.
        seconds = (elapsed / .milliseconds(1)).rounded() / 1000
    }

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
