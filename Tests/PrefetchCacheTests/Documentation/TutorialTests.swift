import Foundation
import Testing

/// The tutorials, held against the programs that they explain.
@Suite struct TutorialTests {
    @Test(arguments: ["PodcastTutorial", "ReaderTutorial"])
    func everyPieceOfCodeIsPartOfTheProgram(name: String) throws {
        // Links on the way to this file do not count.
        let package = URL(filePath: #filePath).resolvingSymlinksInPath().appending(
            path: "../../../.."
        ).standardizedFileURL
        let folder = package.appending(path: "Examples/Sources/\(name)")
        let sources = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { Self.withoutIndentation(try String(contentsOf: $0, encoding: .utf8)) }
        let article = package.appending(path: "Sources/PrefetchCaching/PrefetchCaching.docc/\(name).md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let pieces = text.matches(of: /(?ms)^```swift\n(.*?)^```$/).map { String($0.1) }
        #expect(pieces.count > 4)
        for piece in pieces {
            let code = Self.withoutIndentation(piece)
            #expect(sources.contains { $0.contains(code) }, "\(piece)")
        }
    }

    /// Whole lines only, each of which begins with a line break.
    private static func withoutIndentation(_ code: String) -> String {
        "\n"
            + code.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
