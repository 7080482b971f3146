import PrefetchItemFormat
import Testing

@Suite struct KeyHashTests {
    private let hash = KeyHash(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    private let text = "0123456789abcdeffedcba9876543210"

    @Test func digitsGoThereAndBack() {
        #expect(hash.hexadecimal == text)
        #expect(KeyHash(hexadecimal: text) == hash)
    }

    @Test func bytesAreInTheOrderOfTheDigits() {
        let digits = hash.bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        #expect(digits.joined() == text)
    }

    @Test(arguments: [
        "", "0", "0123456789abcdeffedcba987654321", "0123456789abcdeffedcba98765432100",
        "0123456789ABCDEFFEDCBA9876543210", "0123456789abcdeffedcba987654321g",
        "0123456789abcdeffedcba98765432é", "+123456789abcdeffedcba9876543210",
    ])
    func whatIsNot32LowerCaseDigitsIsNoHash(text: String) {
        #expect(KeyHash(hexadecimal: text) == nil)
    }

    @Test func hashesAreOrderedLikeTheirDigits() {
        let hashes = [(0, 1), (0, 2), (1, 0), (1, .max), (.max, 0)].map { KeyHash(high: $0, low: $1) }
        #expect(hashes.shuffled().sorted() == hashes)
        #expect(hashes.map(\.hexadecimal).sorted() == hashes.map(\.hexadecimal))
    }
}
