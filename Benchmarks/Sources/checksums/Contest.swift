import CLibXXHash
import CPrefetchChecksum
import Contenders

/// One checksum, by both implementations.
struct Contest: Sendable {
    typealias Implementation = @Sendable (UnsafeRawBufferPointer) -> UInt64

    let name: String
    let own: Implementation
    let library: Implementation

    static let all = [
        Contest(name: "XXH32") {
            UInt64(cchecksum_xxh32($0.baseAddress, $0.count))
        } library: {
            UInt64(XXH32($0.baseAddress, $0.count, 0))
        },
        Contest(name: "XXH3-64") {
            cchecksum_xxh3_64($0.baseAddress, $0.count)
        } library: {
            XXH3_64bits($0.baseAddress, $0.count)
        },
        Contest(name: "XXH3-128") {
            let hash = cchecksum_xxh3_128($0.baseAddress, $0.count)
            return hash.low ^ hash.high
        } library: {
            let hash = XXH3_128bits($0.baseAddress, $0.count)
            return hash.low64 ^ hash.high64
        },
    ]

    /// In gigabytes per second; `ratio` is above 1 where our own is faster.
    struct Result {
        let own: Figure
        let library: Figure
        let ratio: Figure
    }

    /// Who goes first changes from round to round, and the first round warms up.
    func run(on bytes: [UInt8], rounds: Int) throws -> Result {
        var speeds: [(own: Double, library: Double)] = []
        for round in 0...rounds {
            var own = Turn()
            var library = Turn()
            if round.isMultiple(of: 2) { own.take(self.own, bytes) }
            library.take(self.library, bytes)
            if !round.isMultiple(of: 2) { own.take(self.own, bytes) }
            guard own.checksum == library.checksum else { throw DifferentChecksums(name: name) }
            if round > 0 { speeds.append((own.speed, library.speed)) }
        }
        return Result(
            own: Figure(speeds.map(\.own)), library: Figure(speeds.map(\.library)),
            ratio: Figure(speeds.map { $0.own / $0.library }))
    }

    private struct Turn {
        var speed = 0.0
        /// Of all calls together, so that none is optimised away.
        var checksum: UInt64 = 0

        mutating func take(_ implementation: Implementation, _ bytes: [UInt8]) {
            let calls = (64 << 20) / bytes.count
            bytes.withUnsafeBytes { bytes in
                let elapsed = ContinuousClock().measure {
                    for _ in 0..<calls { checksum &+= implementation(bytes) }
                }
                speed = Double(calls * bytes.count) / (elapsed / .nanoseconds(1))
            }
        }
    }
}

/// Both implementations hashed the same bytes.
struct DifferentChecksums: Error, CustomStringConvertible {
    let name: String

    var description: String { "\(name) of libxxhash and of this package differ" }
}
