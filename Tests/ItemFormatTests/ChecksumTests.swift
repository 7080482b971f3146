import CPrefetchChecksum
import FileSystemTestSupport
import Testing

@testable import PrefetchItemFormat

#if os(Linux)
    import CPrefetchXXHash
#endif

/// The hashes of the format never change, whatever computes them: here and in the implementation of Apple platforms.
@Suite struct KnownChecksumTests {
    @Test(arguments: KnownAnswer.all)
    func theHashesOfTheFormatAreTheKnownOnes(answer: KnownAnswer) {
        answer.input.withUnsafeBytes { bytes in
            #expect(Checksum.xxh32(bytes) == answer.xxh32)
            #expect(Checksum.of(bytes) == answer.xxh3)
            #expect(Checksum.xxh128(bytes) == (answer.high, answer.low))
        }
    }

    @Test(arguments: KnownAnswer.all)
    func thePortableHashesAreTheKnownOnes(answer: KnownAnswer) {
        answer.input.withUnsafeBytes { bytes in
            #expect(cchecksum_xxh32(bytes.baseAddress, bytes.count) == answer.xxh32)
            #expect(cchecksum_xxh3_64(bytes.baseAddress, bytes.count) == answer.xxh3)
            let hash = cchecksum_xxh3_128(bytes.baseAddress, bytes.count)
            #expect((hash.high, hash.low) == (answer.high, answer.low))
        }
    }
}

/// The hashes with the seed 0 of the first bytes of what the self-test of xxHash hashes. Each way in which an input can
/// end is among them; those that the self-test has, too, are the same there.
struct KnownAnswer: Sendable, CustomTestStringConvertible {
    let count: Int
    let xxh32: UInt32
    let xxh3: UInt64
    let high: UInt64
    let low: UInt64

    var testDescription: String { "\(count) bytes" }

    var input: [UInt8] {
        var word: UInt64 = 0x9E37_79B1
        return (0..<count).map { _ in
            defer { word &*= 0x9E37_79B1_85EB_CA8D }
            return UInt8(word >> 56)
        }
    }

    static let all = table.map { KnownAnswer(count: $0, xxh32: $1, xxh3: $2, high: $3, low: $4) }

    private static let table: [(Int, UInt32, UInt64, UInt64, UInt64)] = [
        (0, 0x02CC_5D05, 0x2D06_8005_38D3_94C2, 0x99AA_06D3_0147_98D8, 0x6001_C324_468D_497F),
        (1, 0xCF65_B03E, 0xC44B_DFF4_074E_ECDB, 0xA6CD_5E93_9200_0F6A, 0xC44B_DFF4_074E_ECDB),
        (2, 0x1151_BEE4, 0x7A99_7804_4CB8_A8BB, 0x7675_0C3C_7BF9_5668, 0x7A99_7804_4CB8_A8BB),
        (3, 0xC238_84F5, 0x5424_7382_A8D6_B94D, 0x20EF_C49F_F024_22EA, 0x5424_7382_A8D6_B94D),
        (4, 0xA9DE_7CE9, 0xE5DC_74BC_5184_8A51, 0x970D_585A_C632_BF8E, 0x2E7D_8D68_76A3_9FE9),
        (6, 0x659F_0C97, 0x27B5_6A84_CD2D_7325, 0x082A_FE0B_8162_D12A, 0x3E70_39BD_DA43_CFC6),
        (8, 0xA3F6_F44B, 0x24CC_C9AC_AA9F_65E4, 0x47A7_F080_D82B_B456, 0x64C6_9CAB_4BB2_1DC5),
        (9, 0xFFB8_2A24, 0x14D5_001C_15DD_3F2B, 0x564E_F607_8950_D457, 0xED7C_CBC5_01EB_7501),
        (12, 0xE89B_5F9B, 0xA713_DAF0_DFBB_77E7, 0x6E3E_FD8F_C780_2B18, 0x061A_1927_13F6_9AD9),
        (14, 0x1208_E7E2, 0x1AC0_BBDA_2B9F_CF03, 0xB262_3398_AA0B_DA1E, 0x352B_8079_7CDA_6247),
        (16, 0x93BA_3759, 0x981B_17D3_6C74_98C9, 0xC68C_368E_CF8A_9C05, 0x5629_8025_8A99_8629),
        (17, 0x89FD_C23E, 0x796F_5ACD_3A60_F862, 0x955F_A786_43ED_3669, 0xABBC_12D1_1973_D7DB),
        (24, 0xA627_6FF0, 0xA3FE_70BF_9D35_10EB, 0x0CE9_66E4_678D_3761, 0x1E70_44D2_8B1B_901D),
        (32, 0xD898_29EC, 0x9FEA_DDBD_BF57_EED3, 0x98FC_6458_710D_C2E8, 0x2784_10A1_7595_E3F9),
        (33, 0x31A4_27E5, 0xABFB_2D08_1B40_0A10, 0x3103_C192_CEAA_2DED, 0xE593_BC4E_5914_C9D1),
        (48, 0xBFD0_5CBD, 0x397D_A259_ECBA_1F11, 0xA002_AC4E_5478_227E, 0xF942_219A_ED80_F67B),
        (80, 0xB8D7_E581, 0xBCDE_FBBB_2C47_C90A, 0xFDF2_CEFD_E9EA_AC8A, 0x454A_E6BF_7A8A_532D),
        (81, 0xB13B_C253, 0x7BC9_6F2E_E88D_F87D, 0x4952_F581_81AB_0042, 0x5E8B_AFB9_F95F_B803),
        (128, 0x0FD0_7B71, 0xFCFF_2412_6754_D861, 0x3999_2220_E045_260A, 0xEBB1_5E34_A7FB_5AB1),
        (129, 0x68C9_EC37, 0x98F1_B0A6_79A2_CA29, 0x0381_5FC9_1F1B_30B6, 0x86C9_E3BC_8F0A_3B5C),
        (195, 0x7053_6B96, 0xCD94_217E_E362_EC3A, 0x7729_543A_26B2_07EE, 0x3FB5_93C0_86A6_6075),
        (222, 0x5BD1_1DBD, 0xB916_3B55_8664_D356, 0x337E_0964_1B94_8717, 0xF1AE_BD59_7CEC_6B3A),
        (240, 0xFA6B_6557, 0x81C3_C2B6_7F56_8CCF, 0xAA42_02DA_A276_9DC8, 0x5C9A_AE94_C8EB_E5A0),
        (241, 0xE5F7_C54D, 0xC5A6_39EC_D203_0E5E, 0x99A8_0ECF_0ECF_C647, 0xC5A6_39EC_D203_0E5E),
        (403, 0x6675_FF5A, 0xCDEB_804D_65C6_DEA4, 0x1B6D_E21E_332D_D73D, 0xCDEB_804D_65C6_DEA4),
        (512, 0xD485_C30A, 0x617E_4959_9013_CB6B, 0x18D2_D110_DCC9_BCA1, 0x617E_4959_9013_CB6B),
        (1024, 0xC08E_0A35, 0xDD85_C9B5_C110_9C5C, 0x0D30_D240_71C6_4C57, 0xDD85_C9B5_C110_9C5C),
        (1025, 0x75B3_B8A1, 0xD870_C0FA_1321_1C6A, 0xFD3E_E4FE_7F29_54C6, 0xD870_C0FA_1321_1C6A),
        (2048, 0x7C53_5464, 0xDD59_E2C3_A5F0_38E0, 0xF736_557F_D470_73A5, 0xDD59_E2C3_A5F0_38E0),
        (2240, 0x59E4_583D, 0x6E73_A905_39CF_2948, 0xCCB1_34FB_FA7C_E49D, 0x6E73_A905_39CF_2948),
        (2367, 0x4C8A_9773, 0xCB37_AEB9_E5D3_61ED, 0xE89C_0F6F_F369_B427, 0xCB37_AEB9_E5D3_61ED),
    ]
}

// Elsewhere there is no libxxhash to compare with: see `KnownChecksumTests`.
#if os(Linux)
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
