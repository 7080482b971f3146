import CPrefetchChecksum
import Testing

@testable import PrefetchItemFormat

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

    static let all = [
        KnownAnswer(
            count: 0, xxh32: 0x02CC_5D05, xxh3: 0x2D06_8005_38D3_94C2,
            high: 0x99AA_06D3_0147_98D8, low: 0x6001_C324_468D_497F),
        KnownAnswer(
            count: 1, xxh32: 0xCF65_B03E, xxh3: 0xC44B_DFF4_074E_ECDB,
            high: 0xA6CD_5E93_9200_0F6A, low: 0xC44B_DFF4_074E_ECDB),
        KnownAnswer(
            count: 2, xxh32: 0x1151_BEE4, xxh3: 0x7A99_7804_4CB8_A8BB,
            high: 0x7675_0C3C_7BF9_5668, low: 0x7A99_7804_4CB8_A8BB),
        KnownAnswer(
            count: 3, xxh32: 0xC238_84F5, xxh3: 0x5424_7382_A8D6_B94D,
            high: 0x20EF_C49F_F024_22EA, low: 0x5424_7382_A8D6_B94D),
        KnownAnswer(
            count: 4, xxh32: 0xA9DE_7CE9, xxh3: 0xE5DC_74BC_5184_8A51,
            high: 0x970D_585A_C632_BF8E, low: 0x2E7D_8D68_76A3_9FE9),
        KnownAnswer(
            count: 6, xxh32: 0x659F_0C97, xxh3: 0x27B5_6A84_CD2D_7325,
            high: 0x082A_FE0B_8162_D12A, low: 0x3E70_39BD_DA43_CFC6),
        KnownAnswer(
            count: 8, xxh32: 0xA3F6_F44B, xxh3: 0x24CC_C9AC_AA9F_65E4,
            high: 0x47A7_F080_D82B_B456, low: 0x64C6_9CAB_4BB2_1DC5),
        KnownAnswer(
            count: 9, xxh32: 0xFFB8_2A24, xxh3: 0x14D5_001C_15DD_3F2B,
            high: 0x564E_F607_8950_D457, low: 0xED7C_CBC5_01EB_7501),
        KnownAnswer(
            count: 12, xxh32: 0xE89B_5F9B, xxh3: 0xA713_DAF0_DFBB_77E7,
            high: 0x6E3E_FD8F_C780_2B18, low: 0x061A_1927_13F6_9AD9),
        KnownAnswer(
            count: 14, xxh32: 0x1208_E7E2, xxh3: 0x1AC0_BBDA_2B9F_CF03,
            high: 0xB262_3398_AA0B_DA1E, low: 0x352B_8079_7CDA_6247),
        KnownAnswer(
            count: 16, xxh32: 0x93BA_3759, xxh3: 0x981B_17D3_6C74_98C9,
            high: 0xC68C_368E_CF8A_9C05, low: 0x5629_8025_8A99_8629),
        KnownAnswer(
            count: 17, xxh32: 0x89FD_C23E, xxh3: 0x796F_5ACD_3A60_F862,
            high: 0x955F_A786_43ED_3669, low: 0xABBC_12D1_1973_D7DB),
        KnownAnswer(
            count: 24, xxh32: 0xA627_6FF0, xxh3: 0xA3FE_70BF_9D35_10EB,
            high: 0x0CE9_66E4_678D_3761, low: 0x1E70_44D2_8B1B_901D),
        KnownAnswer(
            count: 32, xxh32: 0xD898_29EC, xxh3: 0x9FEA_DDBD_BF57_EED3,
            high: 0x98FC_6458_710D_C2E8, low: 0x2784_10A1_7595_E3F9),
        KnownAnswer(
            count: 33, xxh32: 0x31A4_27E5, xxh3: 0xABFB_2D08_1B40_0A10,
            high: 0x3103_C192_CEAA_2DED, low: 0xE593_BC4E_5914_C9D1),
        KnownAnswer(
            count: 48, xxh32: 0xBFD0_5CBD, xxh3: 0x397D_A259_ECBA_1F11,
            high: 0xA002_AC4E_5478_227E, low: 0xF942_219A_ED80_F67B),
        KnownAnswer(
            count: 80, xxh32: 0xB8D7_E581, xxh3: 0xBCDE_FBBB_2C47_C90A,
            high: 0xFDF2_CEFD_E9EA_AC8A, low: 0x454A_E6BF_7A8A_532D),
        KnownAnswer(
            count: 81, xxh32: 0xB13B_C253, xxh3: 0x7BC9_6F2E_E88D_F87D,
            high: 0x4952_F581_81AB_0042, low: 0x5E8B_AFB9_F95F_B803),
        KnownAnswer(
            count: 128, xxh32: 0x0FD0_7B71, xxh3: 0xFCFF_2412_6754_D861,
            high: 0x3999_2220_E045_260A, low: 0xEBB1_5E34_A7FB_5AB1),
        KnownAnswer(
            count: 129, xxh32: 0x68C9_EC37, xxh3: 0x98F1_B0A6_79A2_CA29,
            high: 0x0381_5FC9_1F1B_30B6, low: 0x86C9_E3BC_8F0A_3B5C),
        KnownAnswer(
            count: 195, xxh32: 0x7053_6B96, xxh3: 0xCD94_217E_E362_EC3A,
            high: 0x7729_543A_26B2_07EE, low: 0x3FB5_93C0_86A6_6075),
        KnownAnswer(
            count: 222, xxh32: 0x5BD1_1DBD, xxh3: 0xB916_3B55_8664_D356,
            high: 0x337E_0964_1B94_8717, low: 0xF1AE_BD59_7CEC_6B3A),
        KnownAnswer(
            count: 240, xxh32: 0xFA6B_6557, xxh3: 0x81C3_C2B6_7F56_8CCF,
            high: 0xAA42_02DA_A276_9DC8, low: 0x5C9A_AE94_C8EB_E5A0),
        KnownAnswer(
            count: 241, xxh32: 0xE5F7_C54D, xxh3: 0xC5A6_39EC_D203_0E5E,
            high: 0x99A8_0ECF_0ECF_C647, low: 0xC5A6_39EC_D203_0E5E),
        KnownAnswer(
            count: 403, xxh32: 0x6675_FF5A, xxh3: 0xCDEB_804D_65C6_DEA4,
            high: 0x1B6D_E21E_332D_D73D, low: 0xCDEB_804D_65C6_DEA4),
        KnownAnswer(
            count: 512, xxh32: 0xD485_C30A, xxh3: 0x617E_4959_9013_CB6B,
            high: 0x18D2_D110_DCC9_BCA1, low: 0x617E_4959_9013_CB6B),
        KnownAnswer(
            count: 1024, xxh32: 0xC08E_0A35, xxh3: 0xDD85_C9B5_C110_9C5C,
            high: 0x0D30_D240_71C6_4C57, low: 0xDD85_C9B5_C110_9C5C),
        KnownAnswer(
            count: 1025, xxh32: 0x75B3_B8A1, xxh3: 0xD870_C0FA_1321_1C6A,
            high: 0xFD3E_E4FE_7F29_54C6, low: 0xD870_C0FA_1321_1C6A),
        KnownAnswer(
            count: 2048, xxh32: 0x7C53_5464, xxh3: 0xDD59_E2C3_A5F0_38E0,
            high: 0xF736_557F_D470_73A5, low: 0xDD59_E2C3_A5F0_38E0),
        KnownAnswer(
            count: 2240, xxh32: 0x59E4_583D, xxh3: 0x6E73_A905_39CF_2948,
            high: 0xCCB1_34FB_FA7C_E49D, low: 0x6E73_A905_39CF_2948),
        KnownAnswer(
            count: 2367, xxh32: 0x4C8A_9773, xxh3: 0xCB37_AEB9_E5D3_61ED,
            high: 0xE89C_0F6F_F369_B427, low: 0xCB37_AEB9_E5D3_61ED),
    ]
}
