package import Foundation

/// Steele, Lea and Flood's SplitMix64: the same numbers on every machine.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(state: UInt64) {
        self.state = state
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Bytes that are as little compressible as audio or video.
    package mutating func media(_ count: Int) -> Data {
        (0..<count / 8).map { _ in next() }.withUnsafeBytes { Data($0) }
    }
}
