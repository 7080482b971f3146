import ArgumentParser
import CLibXXHash
import CPrefetchChecksum
import Contenders
import Foundation

/// `checksums`: how fast the checksums of Apple platforms are, beside those of libxxhash.
@main
struct Checksums: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checksums",
        abstract: "Compares the package's own checksums with those of libxxhash.",
        discussion: """
            Both take turns in hashing the same bytes, as often as it takes for 64 MiB. Reported are the \
            medians over the rounds of both speeds, and of their ratio with its quartiles.
            """)

    @Option(help: "Measured rounds.")
    var rounds = 41

    private typealias Implementation = @Sendable (UnsafeRawPointer?, Int) -> UInt64

    private static let contests: [(name: String, own: Implementation, library: Implementation)] = [
        ("XXH32", { UInt64(cchecksum_xxh32($0, $1)) }, { UInt64(XXH32($0, $1, 0)) }),
        ("XXH3-64", { cchecksum_xxh3_64($0, $1) }, { XXH3_64bits($0, $1) }),
        ("XXH3-128", { cchecksum_xxh3_128($0, $1).low }, { XXH3_128bits($0, $1).low64 }),
    ]

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds must be greater than zero.") }
    }

    func run() throws {
        var random = SplitMix64(seed: 1)
        for size in [16 << 10, 1 << 20] {
            let bytes = random.bytes(size)
            for (name, own, library) in Self.contests {
                var speeds: [[Double]] = []
                // The first round warms up.
                for round in 0...rounds {
                    var results = [(speed: Double, sum: UInt64)](repeating: (0, 0), count: 2)
                    for index in Race.order(of: 2, in: round) {
                        results[index] = Self.measure([own, library][index], bytes)
                    }
                    guard results[0].sum == results[1].sum else {
                        throw ContenderError("\(name) of libxxhash and of this package differ")
                    }
                    if round > 0 { speeds.append(results.map(\.speed)) }
                }
                let ratio = Figure(speeds.map { $0[0] / $0[1] })
                let medians = [0, 1].map { index in Figure(speeds.map { $0[index] }).median }
                print(
                    String(
                        format: "%@ of %@: own %.1f GB/s, libxxhash %.1f GB/s; "
                            + "own/libxxhash %.2f (quartiles %.2f–%.2f)",
                        name, byteCount(size), medians[0], medians[1], ratio.median, ratio.lowerQuartile,
                        ratio.upperQuartile))
            }
        }
    }

    /// - Returns: Gigabytes per second, and the sum of all results, so that none is optimised away.
    private static func measure(
        _ implementation: Implementation, _ bytes: [UInt8]
    ) -> (speed: Double, sum: UInt64) {
        let calls = (64 << 20) / bytes.count
        var sum: UInt64 = 0
        let elapsed = bytes.withUnsafeBytes { bytes in
            ContinuousClock().measure {
                for _ in 0..<calls { sum &+= implementation(bytes.baseAddress, bytes.count) }
            }
        }
        return (Double(calls * bytes.count) / (elapsed / .nanoseconds(1)), sum)
    }
}
