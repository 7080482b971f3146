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

@Suite struct FileNameNumberingTests {
    @Test(arguments: [
        ("film.mp4", 2, "film (2).mp4"), ("film", 2, "film (2)"), ("a.tar.gz", 3, "a.tar (3).gz"),
        ("Mr. Smith", 2, "Mr. Smith (2)"), ("a.", 2, "a. (2)"), ("a..txt", 2, "a. (2).txt"),
        ("film (2).mp4", 3, "film (2) (3).mp4"), ("a.mp4", -1, "a (-1).mp4"),
    ])
    func theNumberGoesBeforeTheExtension(_ name: String, _ number: Int, _ numbered: String) throws {
        #expect(try FileName(name).numbered(number).string == numbered)
    }

    @Test(arguments: [2, 10, .max, .min])
    func aNumberedNameStaysWithinTheLimit(_ number: Int) throws {
        let long = try FileName(String(repeating: "é", count: 125) + ".mp4")
        let numbered = long.numbered(number)
        #expect(try FileName(numbered.string) == numbered)
        #expect((254...255).contains(numbered.string.utf8.count))
        #expect(numbered.string.hasSuffix(" (\(number)).mp4"))
    }

    @Test func numbersKeepNamesApartEvenWhereTheStemIsCut() throws {
        let long = try FileName(String(repeating: "a", count: 255))
        #expect(Set((2..<200).map { long.numbered($0) }).count == 198)
    }

    @Test func aStemOfOneCharacterThatDoesNotFitIsReplaced() throws {
        let name = try FileName("a" + String(repeating: "\u{301}", count: 125) + ".mp4")
        #expect(name.numbered(2).string == "item (2).mp4")
    }
}

@Suite struct FolderPathTests {
    @Test(arguments: [
        ("Podcasts", ["Podcasts"]), ("Podcasts/Daily", ["Podcasts", "Daily"]),
        ("1/2/3/4/5/6/7/8", ["1", "2", "3", "4", "5", "6", "7", "8"]), ("a b/ c", ["a b", " c"]),
        ("Größe/e\u{301}", ["Größe", "e\u{301}"]),
    ])
    func theComponentsAreNames(_ string: String, _ components: [String]) throws {
        let folder = try FolderPath(string)
        #expect(folder.components.map(\.string) == components)
        #expect(folder.string.unicodeScalars.elementsEqual(string.unicodeScalars))
        #expect(try FolderPath(components.map { try FileName($0) }) == folder)
    }

    @Test(arguments: [
        ("", FolderPathError.empty), ("/", .component(.empty)), ("/a", .component(.empty)),
        ("a/", .component(.empty)), ("a//b", .component(.empty)), (".", .component(.leadingDot)),
        ("..", .component(.leadingDot)), ("a/..", .component(.leadingDot)),
        ("../a", .component(.leadingDot)), ("a/.b", .component(.leadingDot)),
        ("a\\b", .component(.separator)), ("a/\0", .component(.controlCharacter)),
        ("a/ ", .component(.blank)), ("a\u{2028}", .component(.lineSeparator)),
        ("a/\u{202E}b", .component(.bidirectionalControl)),
        // One character to Swift, a separator and a mark to the kernel.
        ("../\u{301}a", .component(.leadingDot)),
        ("1/2/3/4/5/6/7/8/9", .tooDeep(components: 9)),
        (String(repeating: "a/", count: 400) + "a", .tooDeep(components: 401)),
        (String(repeating: "a", count: 256), .component(.tooLong(bytes: 256))),
    ])
    func whatIsNoFolderIsRefused(_ string: String, _ error: FolderPathError) {
        #expect(throws: error) { try FolderPath(string) }
    }

    @Test func theWholePathIsBounded() throws {
        let long = try FileName(String(repeating: "a", count: 255))
        #expect(try FolderPath([long, long]).string.utf8.count == 511)
        #expect(throws: FolderPathError.tooLong(bytes: 513)) { try FolderPath([long, long, "b"]) }
        #expect(throws: FolderPathError.empty) { try FolderPath([]) }
        #expect(throws: FolderPathError.tooDeep(components: 9)) {
            try FolderPath(Array(repeating: "a", count: 9))
        }
    }

    @Test func foldersAreEqualWhenTheirBytesAre() throws {
        #expect(FolderPath("\u{E9}") != FolderPath("e\u{301}"))
        let spelled: FolderPath = "a/b"
        let listed = try FolderPath(["a", "b"])
        #expect(spelled == listed)
    }
}
