import Testing

@testable import cachectl

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
