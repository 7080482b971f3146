import Testing

@testable import cachectl

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_772_366_400_999, "2026-03-01T12:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59Z"),
            (253_402_300_800_000, "253402300800000 ms after 1970"),
            (Int64.max, "9223372036854775807 ms after 1970"),
            (Int64.min, "-9223372036854775808 ms after 1970"),
        ] as [(Int64, String)])
    func aTimeIsPrintedWhateverItIs(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp.text(milliseconds: milliseconds) == text)
    }
}
