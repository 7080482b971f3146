import ArgumentParser
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

    @Flag(help: "Two rounds: a smoke test.")
    var quick = false

    @Option(help: "Measured rounds (default: 41, quick: 2).")
    var rounds: Int?

    func validate() throws {
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be greater than zero.") }
    }

    func run() throws {
        for (size, name) in [(16 << 10, "16 KiB"), (1 << 20, "1 MiB")] {
            let bytes = Self.noise(size)
            for contest in Contest.all {
                let result = try contest.run(on: bytes, rounds: rounds ?? (quick ? 2 : 41))
                print(
                    String(
                        format: "%@ of %@: own %.1f GB/s, libxxhash %.1f GB/s; "
                            + "own/libxxhash %.2f (quartiles %.2f–%.2f)",
                        contest.name, name, result.own.median, result.library.median, result.ratio.median,
                        result.ratio.lowerQuartile, result.ratio.upperQuartile))
            }
        }
    }

    private static func noise(_ count: Int) -> [UInt8] {
        var generator = SplitMix64(seed: 1)
        return (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &generator) }
    }
}
