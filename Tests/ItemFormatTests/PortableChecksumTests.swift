import FileSystemTestSupport
import Testing

// Elsewhere there is no libxxhash to compare with: see `KnownChecksumTests`.
#if os(Linux)
    import CPrefetchChecksum
    import CPrefetchXXHash

    /// What the implementation of Apple platforms computes is what libxxhash does.
    @Suite struct PortableChecksumTests {
        @Test func everyLengthUpTo4096() {
            var inputs = Inputs(seed: TestRun.seed)
            for count in 0...4096 { inputs.compare(count) }
        }

        /// A million in a long run.
        @Test func randomInputs() {
            var inputs = Inputs(seed: TestRun.seed)
            let cases = TestRun.count(short: 400, long: 1_000_000)
            for _ in 0..<cases { inputs.compareRandomLength() }
            if TestRun.isLong { print("checksums: \(cases) random inputs") }
        }

        @Test func noBytesAtNoAddress() {
            expectTheSame(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    /// Parts of a pool that changes with every one: noise, and two runs of the same byte, at any address.
    private struct Inputs {
        private var generator: SeededGenerator
        private var pool: [UInt8]

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
            pool = Sample.noise(256 << 10, seed: seed)
            pool += [UInt8](repeating: 0, count: 32 << 10) + [UInt8](repeating: 0xFF, count: 32 << 10)
        }

        /// Most are short: there the bytes that are left over count most.
        mutating func compareRandomLength() {
            let bits = Int.random(in: 1...16, using: &generator)
            compare(Int.random(in: 0...1 << bits, using: &generator))
        }

        mutating func compare(_ count: Int) {
            let start = Int.random(in: 0...pool.count - count, using: &generator)
            if count > 0 {
                pool[start + Int.random(in: 0..<count, using: &generator)] = .random(
                    in: 0...0xFF, using: &generator)
            }
            pool.withUnsafeBytes {
                expectTheSame(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
            }
        }
    }

    private func expectTheSame(_ bytes: UnsafeRawBufferPointer) {
        let (start, count) = (bytes.baseAddress, bytes.count)
        #expect(cchecksum_xxh32(start, count) == XXH32(start, count, 0), "XXH32 of \(count) bytes")
        #expect(cchecksum_xxh3_64(start, count) == XXH3_64bits(start, count), "XXH3-64 of \(count) bytes")
        let ours = cchecksum_xxh3_128(start, count)
        let theirs = XXH3_128bits(start, count)
        #expect((ours.low, ours.high) == (theirs.low64, theirs.high64), "XXH3-128 of \(count) bytes")
    }
#endif
