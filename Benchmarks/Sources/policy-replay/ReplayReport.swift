import Foundation
@_spi(Simulation) import PrefetchCaching

/// What is printed: one JSON object on one line.
struct ReplayReport: Encodable {
    let policy: EvictionPolicyChoice
    let capacityBytes: Int64
    let requests: Int64
    let hits: Int64
    let hitBytes: Int64
    let evictions: Int64
    let residentItems: Int
    let residentBytes: Int64
    let seconds: Double

    init(
        _ result: EvictionSimulation.Result, policy: EvictionPolicyChoice, capacity: ByteCount,
        elapsed: Duration
    ) {
        self.policy = policy
        capacityBytes = capacity.bytes
        requests = result.requests
        hits = result.hits
        hitBytes = result.hitBytes
        evictions = result.evictions
        residentItems = result.residentItems
        residentBytes = result.residentBytes
        // More digits would say more than the clock knows.
        seconds = (elapsed / .milliseconds(1)).rounded() / 1000
    }

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
