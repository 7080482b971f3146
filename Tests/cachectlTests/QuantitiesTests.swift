import PrefetchCaching
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

@Suite struct SizeOrTests {
    @Test func theWordStandsForNoSize() throws {
        #expect(try SizeOr.parsing("none")("none") == .word)
        #expect(try SizeOr.parsing("none")("2kB") == .size(.bytes(2_000)))
    }

    @Test(
        arguments: [("", .empty), ("None", .notANumber), ("automatic", .notANumber), ("-1", .negative)]
            as [(String, ByteSizeError)])
    func anythingElseIsRefusedWithBothWaysOut(_ text: String, _ error: ByteSizeError) {
        let refused = #expect(throws: SizeOrError.self) { try SizeOr.parsing("none")(text) }
        #expect(refused == SizeOrError(word: "none", error: error))
        #expect(refused?.description == "\(error), or 'none'")
    }
}

@Suite struct ByteRangeTests {
    @Test(
        arguments: [
            ("0-99", 0..<100), ("0-0", 0..<1), ("99-99", 99..<100), ("10-19", 10..<20),
            ("100-", 100..<1000), ("999-", 999..<1000), ("0-", 0..<1000), ("-5", 995..<1000),
            ("-1000", 0..<1000),
        ] as [(String, Range<Int64>)])
    func bothEndsAreIncluded(_ text: String, _ range: Range<Int64>) throws {
        #expect(try ByteRange(text).resolved(length: 1000) == range)
    }

    @Test(arguments: ["0-1000", "1000-", "1000-1000", "-1001", "0-9223372036854775807"])
    func aRangePastTheEndNamesTheLength(_ text: String) throws {
        let range = try ByteRange(text)
        let error = #expect(throws: ByteRangeError.self) { try range.resolved(length: 1000) }
        #expect(error == .pastEnd(range, length: 1000))
        #expect(error?.description.contains("has 1000 bytes") == true)
        #expect(error?.description.contains(text) == true)
    }

    @Test(arguments: ["0-0", "0-", "-1"])
    func anEmptyItemHasNoRange(_ text: String) throws {
        let range = try ByteRange(text)
        #expect(throws: ByteRangeError.pastEnd(range, length: 0)) { try range.resolved(length: 0) }
    }

    @Test(
        arguments: [
            ("", .malformed), ("-", .malformed), ("5", .malformed), ("--5", .malformed), ("a-b", .malformed),
            ("1-2-3", .malformed), ("bytes=0-1", .malformed), (" 0-1", .malformed), ("0 - 1", .malformed),
            ("+0-1", .malformed), ("0-9223372036854775808", .malformed), ("0x0-1", .malformed),
            ("2-1", .backwards), ("-0", .noBytes),
        ] as [(String, ByteRangeError)])
    func whatIsNoRangeIsRefused(_ text: String, _ error: ByteRangeError) {
        #expect(throws: error) { try ByteRange(text) }
    }
}

@Suite struct IntervalTests {
    @Test(arguments: [("100ms", 100), ("1s", 1000), ("2m", 120_000), ("60m", 3_600_000), ("5 s", 5000)])
    func anIntervalIsRead(_ text: String, _ milliseconds: Int64) throws {
        #expect(try Interval(text).duration == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "1", "s", "1h", "1.5s", "-1s", "1S"])
    func whatIsNoIntervalIsRefused(_ text: String) {
        #expect(throws: IntervalError.malformed) { try Interval(text) }
    }

    @Test(arguments: ["0s", "99ms", "61m", "9223372036854775807m", "99999999999999999999s"])
    func anIntervalHasBounds(_ text: String) {
        #expect(throws: IntervalError.outOfRange) { try Interval(text) }
    }
}

@Suite struct LifetimeTests {
    @Test(
        arguments: [
            ("0s", 0), ("45s", 45_000), ("45 s", 45_000), ("007s", 7_000), ("30m", 1_800_000),
            ("12h", 43_200_000), ("7d", 604_800_000), ("2w", 1_209_600_000),
            ("53375995583d", 4_611_686_018_371_200_000), ("4611686018427387s", 4_611_686_018_427_387_000),
        ] as [(String, Int64)])
    func aDurationIsRead(_ text: String, _ milliseconds: Int64) throws {
        #expect(try Lifetime(text).milliseconds == milliseconds)
    }

    @Test(
        arguments: [
            ("", .empty), ("-7d", .negative), ("-", .negative), ("d", .notANumber), ("+7d", .notANumber),
            (" 7d", .notANumber), ("nan", .notANumber), (".5d", .notANumber), ("٣d", .notANumber),
            ("1.5h", .fraction), ("1,5h", .fraction), ("7", .noUnit), ("7 ", .noUnit),
            ("7y", .unknownUnit), ("7D", .unknownUnit), ("7ms", .unknownUnit), ("7d ", .unknownUnit),
            ("1h30m", .unknownUnit), ("1e3s", .unknownUnit), ("7\u{308}d", .unknownUnit),
            ("4611686018427388s", .tooLarge), ("53375995584d", .tooLarge),
            ("9223372036854775807w", .tooLarge),
            ("9223372036854775808s", .tooLarge), ("99999999999999999999999999d", .tooLarge),
        ] as [(String, LifetimeError)])
    func whatIsNoDurationIsRefused(_ text: String, _ error: LifetimeError) {
        #expect(throws: error) { try Lifetime(text) }
    }

    @Test(
        arguments: [
            (0, 604_800_000), (1_772_366_400_000, 1_772_971_200_000), (-604_800_000, 0),
            (Int64.max, Int64.max - 1),
        ] as [(Int64, Int64)])
    func itsEndIsAlwaysATime(_ now: Int64, _ end: Int64) throws {
        #expect(try Lifetime("7d").end(from: now) == end)
    }

    @Test func theLongestOneThatIsNamedCanBeGiven() throws {
        let named = try #require(LifetimeError.tooLarge.description.firstMatch(of: /\d+d/)).output
        #expect(try Lifetime(String(named)).milliseconds <= Lifetime.longest.milliseconds)
    }
}

@Suite struct PriorityTests {
    @Test(arguments: [("0", 0), ("1", 1), ("0.5", 0.5), (".5", 0.5), ("1e-3", 0.001), ("-0", 0)])
    func aPriorityIsRead(_ text: String, _ priority: Float) throws {
        #expect(try Priority.parse(text) == priority)
    }

    @Test(
        arguments: [
            ("", .notANumber), ("high", .notANumber), ("0,5", .notANumber), (" 0.5", .notANumber),
            ("nan", .outOfRange), ("-nan", .outOfRange), ("inf", .outOfRange), ("-inf", .outOfRange),
            ("1.0001", .outOfRange), ("-0.0001", .outOfRange), ("1e300", .outOfRange),
        ] as [(String, PriorityError)])
    func whatIsNoPriorityIsRefused(_ text: String, _ error: PriorityError) {
        #expect(throws: error) { try Priority.parse(text) }
    }
}
