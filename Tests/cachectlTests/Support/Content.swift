import Foundation

/// Content that compresses.
let text = Data((0..<20_000).map { "line \($0)\n" }.joined().utf8)

/// Content that does not compress, the same for the same seed.
func noise(_ count: Int, seed: UInt64) -> Data {
    var state = seed
    var words: [UInt64] = []
    words.reserveCapacity(count / 8 + 1)
    while words.count * 8 < count {
        // SeededGenerator
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        words.append(bits ^ (bits >> 31))
    }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
}
