import Foundation
import Testing

@testable import cachectl

@Suite struct HelpTests {
    /// The examples at the end of a command's help.
    private func examples(of command: CommandTree) throws -> [String] {
        let discussion = try #require(command.discussion, "\(command.commandName)")
        let parts = discussion.components(separatedBy: "EXAMPLES:\n")
        try #require(parts.count == 2, "\(command.commandName) has no examples")
        return parts[1].split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.hasPrefix("#") }
    }

    @Test func everyExampleIsAccepted() throws {
        for command in try CommandTree.commands() {
            let examples = try examples(of: command)
            #expect(!examples.isEmpty)
            for example in examples {
                let words = example.split(separator: " ").map(String.init)
                    .prefix { !$0.hasPrefix(">") && !$0.hasPrefix("<") && $0 != "|" }
                // Two more for the indent: a wrapped line cannot be copied.
                #expect(example.count <= 78, "\(example)")
                #expect(Array(words.prefix(2)) == ["cachectl", command.commandName])
                #expect(throws: Never.self, "\(example)") {
                    try Invocation(arguments: Array(words.dropFirst())).request()
                }
            }
        }
    }

    @Test func examplesKeepTheirLinesInTheHelp() throws {
        guard case .text(let help) = try Invocation(arguments: ["help", "watch"]).request() else {
            Issue.record("no help")
            return
        }
        #expect(
            help.contains("\n  # Watch until q is pressed\n  cachectl watch --app org.example.app\n"))
    }

    @Test func everyArgumentIsExplained() throws {
        for command in try CommandTree.commands() {
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                #expect(argument.abstract?.isEmpty == false, "\(command.commandName) \(argument.names ?? [])")
            }
        }
    }
}

/// ArgumentParser's scripts complete what is ours in them.
@Suite struct CompletionsTests {
    @Test(arguments: [
        ("cachectl wat", "watch"), ("cachectl put --to ", "documents support icloud none"),
        ("cachectl list --part", "--partials"), ("cachectl report --for", "--force"),
        ("cachectl inventory --area ", "documents support caches tmp icloud other"),
        ("cachectl inventory --check --plist App", "App.plist"),
        ("cachectl migrate --from fold", "folder"), ("cachectl migrate --from App", ""),
    ])
    func bashCompletes(_ line: String, _ completions: String) throws {
        let container = try Container()
        try container.folder.write(Data(), to: "App.plist")
        try FileManager.default.createDirectory(
            at: container.folder.file("folder"), withIntermediateDirectories: false)
        let printed = try Tool.run(
            Tool.path, ["--generate-completion-script", "bash"], in: container.folder)
        let script = try container.folder.write(printed.output, to: "script")
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
        let outcome = try Tool.run(
            "/bin/bash",
            [
                "--norc", "-c",
                """
                source '\(script.path)'
                COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
                COMP_LINE='\(line)'; COMP_POINT=\(line.count)
                _cachectl cachectl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                echo "${COMPREPLY[@]}"
                """,
            ], in: container.folder)
        #expect(outcome.text.trimmingCharacters(in: .whitespacesAndNewlines) == completions)
        #expect(outcome.errors.isEmpty)
    }
}

/// The article on the command line, held against the code.
@Suite struct CommandLineArticleTests {
    private var article: String {
        get throws {
            let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let file = package.appending(path: "Sources/PrefetchCaching/PrefetchCaching.docc/CommandLine.md")
            return try String(contentsOf: file, encoding: .utf8)
        }
    }

    @Test func everyExitCodeIsInItsTable() throws {
        let rows = ExitCode.allCases.map { "| \($0.rawValue) | `\($0.name)` | \($0.meaning) |\n" }.joined()
        #expect(try article.contains("| --- | --- | --- |\n\(rows)\n"))
    }

    @Test func theVersionAndTheBoundsAreThoseOfTheCode() throws {
        let article = try article
        #expect(article.contains("`schemaVersion`, \(JSON.schemaVersion) at present"))
        #expect(CacheSampler.rest == 20 && article.contains("twenty times as long"))
    }
}
