import FileSystemTestSupport
import PrefetchStorageAreas
import Testing

@Suite struct FileNameFuzzTests {
    private static let nasty: [Unicode.Scalar] = [
        ".", "/", "\\", " ", "\n", "\r", "\0", "\t", "\u{7F}", "\u{85}", "\u{202E}", "\u{2028}", "\u{200B}",
        "\u{200D}", "\u{301}", "\u{600}", "\u{1F468}", "\u{1F1E9}", "\u{10FFFF}", "\u{FEFF}", "a", "4", "é",
    ]

    private func randomString(_ random: inout SeededGenerator) -> String {
        let isLong = Int.random(in: 0..<4, using: &random) == 0
        let length = Int.random(in: 0...(isLong ? 400 : 12), using: &random)
        var scalars = String.UnicodeScalarView()
        for _ in 0..<length {
            let value = UInt32.random(in: 0...0x10FFFF, using: &random)
            let other = Self.nasty[Int.random(in: 0..<Self.nasty.count, using: &random)]
            scalars.append(
                Int.random(in: 0..<8, using: &random) == 0 ? Unicode.Scalar(value) ?? other : other)
        }
        return String(scalars) + (Bool.random(using: &random) ? ".mp4" : "")
    }

    @Test func anyStringCanBeSanitizedAndNumbered() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<10_000 {
            let given = randomString(&random)
            let name = FileName(sanitizing: given)
            expectIsName(name, given)
            expectIsName(name.numbered(.random(in: 2...1_000_000, using: &random)), given)
        }
    }

    @Test func aStringThatIsANameIsNotChanged() {
        var random = SeededGenerator(seed: 4)
        var unchanged = 0
        for _ in 0..<10_000 {
            let given = randomString(&random)
            do {
                let name = try FileName(given)
                #expect(FileName(sanitizing: given) == name, "\(given.debugDescription)")
                unchanged += 1
            } catch {
                #expect(!FileName(sanitizing: given).string.utf8.elementsEqual(given.utf8))
            }
        }
        #expect(unchanged > 100, "the random strings are hardly ever names, and so test nothing")
    }

    private func expectIsName(_ name: FileName, _ given: String) {
        #expect(throws: Never.self, "\(given.debugDescription)") { try FileName(name.string) }
    }
}
