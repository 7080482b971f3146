import Foundation
import Testing

@testable import cachectl

/// What can be run in the README, run; and what it shows, held against what is. `.ci/run` runs its two commands.
@Suite struct ReadmeTests {
    private static let package = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private let readme: String

    init() throws {
        readme = try Self.file("README.md")
    }

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: package.appending(path: path), encoding: .utf8)
    }

    @Test func everyParagraphOfItsCodeIsCompiledAndRun() throws {
        let code = Self.lines(try Self.file("Tests/PrefetchDownloaderTests/ReadmeCode.swift"))
        let blocks = readme.matches(of: /(?ms)^```swift\n(.*?)^```$/).map { String($0.1) }
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
        "\n"
            + code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(
                separator: "\n")
            + "\n"
    }

    @Test func everyCommandIsAccepted() throws {
        let commands = readme.matches(of: /(?m)^    (?:\$ )?cachectl (.*)$/).map { String($0.1) }
        #expect(commands.count > 12)
        for command in commands where !command.hasPrefix("AppData ") {
            let words = command.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            #expect(throws: Never.self, "\(command)") { try Invocation(arguments: words).request() }
        }
    }

    @Test func everyProgramThatItRunsExists() throws {
        let manifests = [
            "Examples": try Self.file("Examples/Package.swift"),
            "Benchmarks": try Self.file("Benchmarks/Package.swift"),
        ]
        let programs = readme.matches(of: /swift run (?:-c release )?--package-path (\w+) ([\w-]+)/)
        #expect(programs.count > 8)
        for program in programs {
            #expect(
                manifests[String(program.1)]?.contains("\"\(program.2)\"") == true, "\(program.0)")
        }
        for script in readme.matches(of: /\.ci\/\w+/) {
            let path = Self.package.appending(path: String(script.0)).path
            #expect(FileManager.default.isExecutableFile(atPath: path), "\(script.0)")
        }
    }

    @Test(arguments: ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
    func everyLinkLeadsSomewhere(name: String) throws {
        let links = try Self.file(name).matches(of: /\]\(([^)#:]+)(#[^)]*)?\)/)
        #expect(links.count > 1)
        for link in links {
            let path = Self.package.appending(path: String(link.1).replacing("\n", with: "")).path
            #expect(FileManager.default.fileExists(atPath: path), "\(link.1)")
        }
    }

    /// The names in a column of text, such as those that `stats` prints.
    private func names(_ text: String, after indentation: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix(indentation), !line.dropFirst(indentation.count).hasPrefix(" ") else {
                return nil
            }
            return line.dropFirst(indentation.count).split(separator: "  ").first.map(String.init)
        }
    }

    @Test func whatItShowsIsWhatIsPrinted() throws {
        let container = try Container()
        for key in ["a", "b"] {
            try container.succeed("put", key, "-", "--to", "documents", "--source", "feed", input: text)
        }
        try container.succeed("open", "a")

        let shown = try #require(
            readme.components(separatedBy: "    $ cachectl --container AppData stats\n").last)
        let stats = shown.components(separatedBy: "\n\n")[0]
        #expect(names(stats, after: "    ") == names(try container.succeed("stats").text, after: ""))

        let derivation = try #require(readme.components(separatedBy: "    AUTOMATIC BUDGET\n").last)
            .components(separatedBy: "\n\n")[0]
        let printed = names(try container.succeed("capacity").text, after: "  ")
        #expect(Set(names(derivation, after: "      ")).isSubset(of: printed))
        #expect(try container.succeed("stats", "--by", "source").text.hasPrefix("STORED "))
    }
}
