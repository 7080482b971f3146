import PrefetchStorageAreas
import Testing

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
