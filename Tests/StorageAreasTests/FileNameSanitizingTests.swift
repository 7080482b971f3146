import PrefetchStorageAreas
import Testing

@Suite struct FileNameSanitizingTests {
    @Test(arguments: [
        ("", "item"), (" \n\t", "item"), ("...", "item"), ("\u{200B}", "item"), ("\u{202E}", "item"),
        ("\0", "item"),
        ("AC/DC", "AC_DC"), ("C:\\file", "C:_file"), ("/", "_"), ("../../etc/passwd", "_.._etc_passwd"),
        (".hidden", "hidden"), (". .a", "a"), (".bashrc.txt", "bashrc.txt"), (".\u{301}a", "\u{301}a"),
        ("Title\n", "Title"), ("two\r\nlines", "two  lines"), ("tab\there", "tab here"), ("\n .a", "a"),
        ("a\u{2028}b", "a b"), ("a\u{2029}", "a"), ("\u{1B}[31mred", "[31mred"), ("a\u{7F}b", "ab"),
        ("a\u{202E}fdp.exe", "afdp.exe"), ("\u{200F}שלום", "שלום"),
    ])
    func whatOffendsIsReplacedOrDropped(_ given: String, _ name: String) {
        #expect(FileName(sanitizing: given).string.unicodeScalars.elementsEqual(name.unicodeScalars))
    }

    @Test(arguments: [
        " a ", "a.", "film.mp4", "_", "e\u{301}", "\u{200D}x", String(repeating: "a", count: 255),
    ])
    func aNameStaysAsItIs(_ string: String) throws {
        #expect(FileName(sanitizing: string) == (try FileName(string)))
    }

    @Test func aLongNameKeepsItsExtension() {
        let name = FileName(sanitizing: String(repeating: "a", count: 300) + ".mp4")
        #expect(name.string == String(repeating: "a", count: 251) + ".mp4")
    }

    @Test func aLongExtensionIsAPartOfTheTitle() {
        let name = FileName(sanitizing: String(repeating: "a", count: 250) + ".notAnExtensionAtAll")
        #expect(name.string == String(repeating: "a", count: 250) + ".notA")
    }

    @Test func aTitleWithADotInItHasNoExtension() {
        let name = FileName(sanitizing: "Mr. " + String(repeating: "S", count: 300))
        #expect(name.string == "Mr. " + String(repeating: "S", count: 251))
    }

    @Test(arguments: [1, 2, 3, 4])
    func aLongNameIsCutBetweenCharacters(_ offset: Int) throws {
        let family = "👨‍👩‍👧‍👦"
        let name = FileName(
            sanitizing: String(repeating: "a", count: offset) + String(repeating: family, count: 20) + ".jpg")
        let stem = name.string.dropFirst(offset).dropLast(4)
        #expect(name.string.hasSuffix(".jpg"))
        #expect(stem.allSatisfy { String($0) == family })
        #expect(stem.count == (255 - 4 - offset) / family.utf8.count)
    }

    @Test func oneCharacterThatIsTooLongLeavesTheExtension() {
        let character = "a" + String(repeating: "\u{301}", count: 200)
        #expect(FileName(sanitizing: character).string == "item")
        #expect(FileName(sanitizing: character + ".mp4").string == "item.mp4")
    }

    @Test func aMegabyteOfTextIsShortened() {
        let name = FileName(sanitizing: String(repeating: "/é\n", count: 300_000))
        #expect((250...255).contains(name.string.utf8.count))
    }
}
