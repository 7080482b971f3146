import Foundation
import Testing

/// The code in the README. `.ci/run` runs its two commands.
@Suite struct ReadmeTests {
    private static func file(_ path: String) throws -> String {
        let package = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../..")
        return try String(contentsOf: package.appending(path: path).standardized, encoding: .utf8)
    }

    @Test func everyParagraphOfItsCodeIsCompiledAndRun() throws {
        let code = Self.lines(try Self.file("Tests/PrefetchDownloaderTests/ReadmeCode.swift"))
        let blocks = try Self.file("README.md").matches(of: /(?ms)^```swift\n(.*?)^```$/).map { String($0.1) }
        let paragraphs = blocks.flatMap { $0.components(separatedBy: "\n\n") }.filter {
            // The lines for a manifest.
            !$0.hasPrefix(".package(")
        }
        #expect(paragraphs.count > 5)
        for paragraph in paragraphs {
            #expect(code.contains(Self.lines(paragraph)), "\(paragraph)")
        }
    }

    /// The lines without their indentation, each after a line break.
    private static func lines(_ code: String) -> String {
        let lines = code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return "\n" + lines.joined(separator: "\n") + "\n"
    }
}
