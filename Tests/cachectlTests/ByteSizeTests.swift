import PrefetchCache
import Testing

@testable import cachectl

@Suite struct ByteSizeTests {
    @Test(arguments: [
        ("0", 0), ("4096", 4096), ("4096B", 4096), ("4096 B", 4096), ("007", 7),
        ("2kB", 2_000), ("2KB", 2_000), ("2KiB", 2_048), ("2kiB", 2_048),
        ("8MB", 8_000_000), ("8mB", 8_000_000), ("8MiB", 8_388_608), ("8 MiB", 8_388_608),
        ("1GB", 1_000_000_000), ("1gB", 1_000_000_000), ("1GiB", 1_073_741_824),
        ("1TB", 1_000_000_000_000), ("1tiB", 1_099_511_627_776),
        ("1.5GB", 1_500_000_000), ("1.5GiB", 1_610_612_736), ("0.5KiB", 512), ("1.0kB", 1_000),
        ("0.0009kB", 0), ("1.1KiB", 1_126), ("0.999999999999999999999999kB", 999),
        ("9223372036854775807", Int64.max), ("8388607TiB", 8_388_607 << 40),
        ("8388607.999TiB", 9_223_372_035_755_264_180),
    ])
    func aSizeIsRead(_ text: String, _ bytes: Int64) throws {
        #expect(try ByteSize.parse(text).bytes == bytes)
    }

    @Test(
        arguments: [
            ("", .empty), ("-1", .negative), ("-8MiB", .negative), ("-nan", .negative),
            ("nan", .notANumber), ("inf", .notANumber), ("MiB", .notANumber), ("+1", .notANumber),
            (" 1", .notANumber), (".5GB", .notANumber), ("5.GB", .notANumber), ("1.2.3", .notANumber),
            ("1,5GB", .unknownUnit), ("1e9", .unknownUnit), ("0x10", .unknownUnit), ("8Mb", .unknownUnit),
            ("8MIB", .unknownUnit), ("8b", .unknownUnit), ("1PB", .unknownUnit), ("1MiB ", .unknownUnit),
            ("1 000", .unknownUnit), ("٣", .notANumber), ("1ﬀB", .unknownUnit),
            ("2k", .ambiguousUnit), ("2M", .ambiguousUnit),
            ("1.5", .partOfByte), ("0.5B", .partOfByte),
            ("9223372036854775808", .tooLarge), ("8388608TiB", .tooLarge), ("9300000TB", .tooLarge),
            ("99999999999999999999999999", .tooLarge),
        ] as [(String, ByteSizeError)])
    func whatIsNoSizeIsRefused(_ text: String, _ error: ByteSizeError) {
        #expect(throws: error) { try ByteSize.parse(text) }
    }
}
