import PrefetchItemFormat
import Testing

@Suite struct ItemKeyTests {
    @Test func aKeyWithNULIsRefused() {
        let text = "a\0b"
        #expect(throws: ItemKeyError.containsNUL) { try ItemKey(text) }
    }

    @Test func anEmptyKeyIsRefused() {
        let empty = ""
        #expect(throws: ItemKeyError.empty) { try ItemKey(empty) }
    }

    @Test func aKeyIsMeasuredInBytes() throws {
        _ = try ItemKey(String(repeating: "k", count: 1024))
        _ = try ItemKey(String(repeating: "é", count: 512))
        #expect(throws: ItemKeyError.tooLong(bytes: 1025)) {
            try ItemKey(String(repeating: "k", count: 1025))
        }
        #expect(throws: ItemKeyError.tooLong(bytes: 1026)) { try ItemKey(String(repeating: "é", count: 513)) }
    }

    @Test func keysAreComparedByteForByte() {
        let composed: ItemKey = "caf\u{E9}"
        let decomposed: ItemKey = "cafe\u{301}"
        #expect(composed.string == decomposed.string, "to Swift they are one string")
        #expect(composed != decomposed)
        #expect(composed.hash != decomposed.hash)
        #expect(Set([composed, decomposed, "caf\u{E9}"]).count == 2)
    }

    @Test func aLiteralIsTheKeyOfItsString() throws {
        let string = "https://example.org/feed/42"
        #expect(try ItemKey(string) == "https://example.org/feed/42")
    }

    /// The hash is where the item lies: it must never change.
    @Test(arguments: [
        ("a", "a96faf705af16834e6c632b61e964e1f"),
        ("https://example.org/feed/42", "9b5794287ea5b059b36f17ee6fe2e2d5"),
    ])
    func theHashIsThatOfXXH3(key: String, hexadecimal: String) throws {
        #expect(try ItemKey(key).hash.hexadecimal == hexadecimal)
    }
}

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
