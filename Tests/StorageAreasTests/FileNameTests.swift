import PrefetchStorageAreas
import Testing

@Suite struct FileNameTests {
    @Test(arguments: [
        "a", "film.mp4", "Folge 1: Anfang.m4a", "-rf", "~", "a.", " a ", "con", "日本語.pdf", "👩‍👩‍👧‍👦", "e\u{301}",
        "العربية",
        "\u{301}", String(repeating: "a", count: 255), String(repeating: "é", count: 127),
    ])
    func anHonestNameIsTakenAsItIs(_ string: String) throws {
        let name = try FileName(string)
        #expect(name.string.utf8.elementsEqual(string.utf8))
        #expect(name.description == name.string)
    }

    @Test(arguments: [
        ("", FileNameError.empty),
        (" ", .blank), ("\u{A0}\u{3000}", .blank), ("\u{200B}\u{FEFF}", .blank), ("\u{3164}", .blank),
        (String(repeating: "a", count: 256), .tooLong(bytes: 256)),
        (String(repeating: "é", count: 128), .tooLong(bytes: 256)),
        (".", .leadingDot), ("..", .leadingDot), (".hidden", .leadingDot), (".\u{301}a", .leadingDot),
        ("a/b", .separator), ("/", .separator), ("a\\b", .separator), ("a/\u{301}b", .separator),
        ("a\0", .controlCharacter), ("a\nb", .controlCharacter), ("a\r\nb", .controlCharacter),
        ("\u{1B}[31m", .controlCharacter), ("a\u{7F}", .controlCharacter), ("a\u{85}", .controlCharacter),
        ("a\u{2028}", .lineSeparator), ("a\u{2029}", .lineSeparator),
    ])
    func aNameThatBreaksARuleIsRefused(_ string: String, _ error: FileNameError) {
        #expect(throws: error) { try FileName(string) }
    }

    @Test(arguments: [0x061C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069))
    func aBidirectionalControlIsRefused(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(throws: FileNameError.bidirectionalControl) { try FileName("a\(scalar)fdp.exe") }
    }

    @Test func namesAreEqualWhenTheirBytesAre() {
        let composed: FileName = "\u{E9}"
        let decomposed: FileName = "e\u{301}"
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, "\u{E9}"]).count == 2)
    }

    @Test func aLiteralThatIsNoNameIsAProgrammingError() async {
        await #expect(processExitsWith: .failure) {
            let _: FileName = ".hidden"
        }
    }

    @Test(arguments: [
        (FileNameError.tooLong(bytes: 300), "300"), (.separator, "/"), (.leadingDot, "dot"),
        (.blank, "visible"),
    ])
    func theErrorSaysWhichRule(_ error: FileNameError, _ text: String) {
        #expect(error.description.contains(text))
    }
}
