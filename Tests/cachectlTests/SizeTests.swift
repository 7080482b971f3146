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
