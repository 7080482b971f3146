import Foundation
import Testing

@testable import cachectl

@Suite struct EscapingTests {
    @Test(arguments: [
        ("plain", "plain"), ("Füße 日本 👩‍👩‍👧", "Füße 日本 👩‍👩‍👧"), (#"back\slash"#, #"back\slash"#),
        ("a\u{1B}[31mb", #"a\u{1B}[31mb"#), ("\u{0}", #"\u{0}"#), ("a\nb\r\tc", #"a\u{A}b\u{D}\u{9}c"#),
        ("\r\n", #"\u{D}\u{A}"#), ("\u{7F}", #"\u{7F}"#), ("\u{9B}31m", #"\u{9B}31m"#),
        ("\u{2028}\u{2029}", #"\u{2028}\u{2029}"#), ("e\u{301}\u{200E}", "e\u{301}\\u{200E}"),
    ])
    func aHazardIsWrittenOut(_ text: String, _ escaped: String) {
        #expect(text.escapedForTerminal.unicodeScalars.elementsEqual(escaped.unicodeScalars))
    }

    @Test(arguments: [
        0x061C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069,
    ])
    func aBidirectionalControlIsWrittenOut(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        let escaped = "fdp.\(scalar)exe".escapedForTerminal
        #expect(escaped == "fdp.\\u{\(String(value, radix: 16, uppercase: true))}exe")
    }

    @Test func jsonHasNoHazardAndIsTheSameText() throws {
        let scalars = (0x00...0xFF).map { Unicode.Scalar(UInt8($0)) }
        let text = String(String.UnicodeScalarView(scalars)) + "\u{202E}/\u{2028}\"\\👩‍👩‍👧"
        for isPretty in [true, false] {
            let json = try JSON.text(of: ["a/b": text], isPretty: isPretty)
            #expect(!json.unicodeScalars.contains { $0.isTerminalHazard && $0 != "\n" })
            #expect(json.contains("a/b"))
            let decoded = try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
            #expect(decoded["a/b"]?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        }
    }
}

@Suite struct ColumnsTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한", 2), ("👩‍👩‍👧", 2), ("–", 1),
    ])
    func textTakesAsManyColumnsAsATerminalGivesIt(_ text: String, _ columns: Int) {
        #expect(text.columns == columns)
    }

    @Test func textIsCutBetweenCharacters() {
        #expect("日本語".prefix(columns: 5) == "日本")
        #expect("日本語".suffix(columns: 3) == "語")
        #expect("abc".prefix(columns: 0) == "")
    }
}

@Suite struct TextTableTests {
    @Test func columnsAreAligned() {
        var table = TextTable([.right, .left, .left])
        table.add(["1", "a", "last"])
        table.add(["100", "bcd", ""])
        #expect(table.lines == ["  1  a    last", "100  bcd  "])
    }

    @Test func aVeryLongTextDoesNotWidenItsColumn() {
        let long = String(repeating: "x", count: TextTable.widestPadding + 1)
        var table = TextTable([.left, .left])
        table.add(["ab", "last"])
        table.add([long, "last"])
        #expect(table.lines == ["ab  last", "\(long)  last"])
    }

    @Test func noRowsAreNoLines() {
        #expect(TextTable([.left]).lines.isEmpty)
    }
}
