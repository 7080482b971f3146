import Foundation
import PrefetchVolumeCapacity

@testable import PrefetchCaching

/// The content of `configuration.json`.
func fuzzConfiguration(_ input: [UInt8]) throws {
    let configuration: CacheConfiguration
    do {
        configuration = try JSONDecoder().decode(CacheConfiguration.self, from: Data(input))
    } catch {
        return
    }
    try require(configuration.problem == nil, "what is read can be used")
    let written = try JSONEncoder().encode(configuration)
    try require(
        try JSONDecoder().decode(CacheConfiguration.self, from: written) == configuration,
        "and written and read again")
    let cap: Int64? =
        switch configuration.budget {
        case .automatic: nil
        case .automaticUpTo(let cap), .fixed(let cap): cap.bytes
        }
    try require(cap ?? 0 >= 0 && configuration.largestItem?.bytes ?? 0 >= 0, "sizes are not negative")
    for total in [0, 1, 1 << 30, 1 << 40, Int64.max] {
        for available in [0, total / 20, total] {
            let state = VolumeState(total: total, available: available, evictable: total / 10)
            let capacity = configuration.capacityModel.capacity(of: state, cap: cap)
            try require((0...total).contains(capacity.budget), "a budget fits on its volume")
            try require(
                0 <= capacity.opportunistic && capacity.opportunistic <= capacity.important, "in this order")
            _ = configuration.capacityModel.pressure(of: state, after: .critical)
            try require(configuration.largestItemBytes(in: capacity.budget) <= capacity.budget, "nor more")
        }
    }
}
