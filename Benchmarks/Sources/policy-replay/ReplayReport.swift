import Foundation
@_spi(Simulation) import PrefetchCaching

/// What is printed: one JSON object on one line. What a kind of trace does not tell is left out.
struct ReplayReport: Encodable {
    let policy: ReplayPolicy
    let capacityBytes: Int64
    let hits: Int64
    let hitBytes: Int64
    let seconds: Double

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

    init(
        _ result: RequestReplay.Result, _ policy: ReplayPolicy, _ capacity: ByteCount,
        _ elapsed: Duration
    ) {
        self.init(policy, capacity, hits: result.hits, hitBytes: result.hitBytes, elapsed)
        requests = result.requests
        evictions = result.evictions
        residentItems = result.residentItems
        residentBytes = result.residentBytes
    }

    init(
        _ result: PrefetchSimulation.Result, _ policy: ReplayPolicy, _ capacity: ByteCount,
        usesGate: Bool, _ elapsed: Duration
    ) {
        self.init(policy, capacity, hits: result.hits, hitBytes: result.hitBytes, elapsed)
        gate = usesGate
        opens = result.opens
        openBytes = result.openBytes
        downloadedBytes = result.downloadedBytes
        wastedBytes = result.wastedBytes
    }

    private init(
        _ policy: ReplayPolicy, _ capacity: ByteCount, hits: Int64, hitBytes: Int64,
        _ elapsed: Duration
    ) {
        self.policy = policy
        capacityBytes = capacity.bytes
        self.hits = hits
        self.hitBytes = hitBytes
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
