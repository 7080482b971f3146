import FileSystemTestSupport
import SystemPackage
import Testing

@testable import PrefetchStorageAreas

@Suite struct UserDirectoriesFuzzTests {
    /// What means something to the parser, and bytes that are no UTF-8.
    private static let pieces: [[UInt8]] =
        [
            "XDG_", "DOCUMENTS", "_DIR", "XDG_DOCUMENTS_DIR=\"", "=", "\"", "\\", "$HOME", "$HOME/", "/", "#",
            "\n",
        ]
        .map { Array($0.utf8) } + [[0], [0xFF], [0xC3], [0x20], [0x09], [0x0D]]

    /// A line in the format, with a few pieces put in or over others.
    private func randomText(_ random: inout SeededGenerator) -> [UInt8] {
        var text = Array("XDG_DOCUMENTS_DIR=\"$HOME/a\"\n".utf8)
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let start = Int.random(in: 0...text.count, using: &random)
            let end = min(text.count, start + Int.random(in: 0...4, using: &random))
            let piece = Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)]
            text.replaceSubrange(start..<end, with: piece)
        }
        return text
    }

    @Test func noTextTrapsTheParserAndEveryFolderIsAbsolute() {
        var random = SeededGenerator(seed: 1)
        var found = 0
        for _ in 0..<10_000 {
            let text = randomText(&random)
            let path = UserDirectories(parsing: text).path(of: "XDG_DOCUMENTS_DIR", home: "/home/u")
            guard let path else { continue }
            found += 1
            #expect(path.isAbsolute, "\(text)")
        }
        #expect((1_000..<9_000).contains(found), "text of one kind only tests half of the parser")
    }

    @Test func aPathOfAnyBytesSurvivesBeingEscaped() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<5_000 {
            var name = (0..<Int.random(in: 1...20, using: &random))
                .map { _ in UInt8.random(in: 1...255, using: &random) }
            // A newline ends the line; there is no way to write one in this format.
            name.removeAll { $0 == UInt8(ascii: "\n") }
            let line =
                Array("XDG_DOCUMENTS_DIR=\"/".utf8) + name.flatMap { [UInt8(ascii: "\\"), $0] }
                + Array("\"".utf8)
            let expected = FilePath(platformString: [0x2F] + name.map(CChar.init(bitPattern:)) + [0])
            let path = UserDirectories(parsing: line).path(of: "XDG_DOCUMENTS_DIR", home: nil)
            #expect(path == expected, "\(name)")
        }
    }
}
