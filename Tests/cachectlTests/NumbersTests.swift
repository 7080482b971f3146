import PrefetchCaching
import Testing

@testable import cachectl

@Suite struct SizeTests {
    @Test(
        arguments: [
            (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1280, "1.3 KiB"),
            (10_188, "9.9 KiB"),
            (10_189, "10 KiB"), (409_600, "400 KiB"), (1_048_063, "1023 KiB"), (1_048_064, "1.0 MiB"),
            (1_288_895, "1.2 MiB"), (512 << 20, "512 MiB"), (3 << 29, "1.5 GiB"), (1 << 40, "1.0 TiB"),
            (1 << 50, "1.0 PiB"), (1 << 60, "1.0 EiB"), (Int64.max, "8.0 EiB"),
        ] as [(Int64, String)])
    func bytesArePrintedInUnitsOf1024(_ bytes: Int64, _ text: String) {
        #expect(Size.text(bytes) == text)
    }

    @Test(
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB (1024 bytes)"),
            (1_572_864, "1.5 MiB (1572864 bytes)"),
        ] as [(Int64, String)])
    func allDigitsAreTold(_ bytes: Int64, _ text: String) {
        #expect(Size.exactText(bytes) == text)
    }
}

@Suite struct PercentTests {
    @Test(arguments: [(0, "0 %"), (5, "0.5 %"), (25, "2.5 %"), (250, "25 %"), (1000, "100 %")])
    func thousandthsAreWrittenAsPercent(_ perMille: Int64, _ text: String) {
        #expect(Percent.text(perMille) == text)
    }

    @Test func aPartOfAnyAmountIsANumber() {
        #expect(Int64.max.perMille(1000) == .max)
        #expect(Int64(1999).perMille(1) == 1)
    }
}

@Suite struct BarTests {
    @Test(
        arguments: [
            (0, 100, "[----------] 0 %"), (4, 100, "[----------] 4 %"), (5, 100, "[#---------] 5 %"),
            (48, 100, "[#####-----] 48 %"), (999, 1000, "[#########-] 99 %"),
            (100, 100, "[##########] 100 %"),
            (150, 100, "[##########] 150 %"), (0, 0, "[----------] 0 %"), (1, 0, "[##########] 100 %"),
            (-1, 100, "[----------] 0 %"), (Int64.max, Int64.max, "[##########] 100 %"),
            (Int64.max - 1, Int64.max, "[#########-] 99 %"),
            (Int64.max, 1, "[##########] 9223372036854775807 %"),
        ] as [(Int64, Int64, String)])
    func theBarShowsThePart(_ part: Int64, _ whole: Int64, _ text: String) {
        #expect(Bar.text(part, of: whole) == text)
    }
}

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
