import Testing

@testable import cachectl

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
