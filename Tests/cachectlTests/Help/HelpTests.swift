import Foundation
import Testing

@testable import cachectl

@Suite struct HelpTests {
    /// The examples at the end of a command's help.
    private func examples(of command: CommandTree) throws -> [String] {
        let discussion = try #require(command.discussion, "\(command.commandName)")
        let parts = discussion.components(separatedBy: ManualPage.examplesTitle)
        try #require(parts.count == 2, "\(command.commandName) has no examples")
        return parts[1].split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.hasPrefix("#") }
    }

    private var commands: [CommandTree] {
        get throws { try #require(CommandTree.ofCachectl().subcommands).filter { $0.commandName != "help" } }
    }

    @Test func everyExampleIsAccepted() throws {
        for command in try commands {
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
        for command in try commands {
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                #expect(argument.abstract?.isEmpty == false, "\(command.commandName) \(argument.names ?? [])")
            }
        }
    }
}

@Suite struct CompletionsTests {
    private func script(_ shell: String, in container: Container) throws -> URL {
        let outcome = try Tool.run(Tool.path, ["completions", shell], in: container.folder)
        #expect(outcome.status == 0)
        return try container.folder.write(outcome.output, to: "script")
    }

    @Test(arguments: [
        ("cachectl wat", "watch"), ("cachectl put --to ", "documents support icloud none"),
        ("cachectl completions ", "bash zsh fish"), ("cachectl list --part", "--partials"),
        ("cachectl report --for", "--force"),
        ("cachectl inventory --area ", "documents support caches tmp icloud other"),
        ("cachectl inventory --area sup", "support"), ("cachectl inventory --check --plist App", "App.plist"),
        ("cachectl migrate --from fold", "folder"), ("cachectl migrate --from App", ""),
        ("cachectl help wat", "watch"), ("cachectl help watch rep", ""),
        ("cachectl --con", "--container"), ("cachectl --ver", "--verbose --version"),
        ("cachectl --container fold", "folder"),
        ("cachectl --json wat", "watch"), ("cachectl --container folder wat", "watch"),
        ("cachectl --quiet --app x list --part", "--partials"),
        ("cachectl --container folder put --to ", "documents support icloud none"),
        ("cachectl --container folder --json completions b", "bash"),
    ])
    func bashCompletes(_ line: String, _ completions: String) throws {
        let container = try Container()
        try container.folder.write(Data(), to: "App.plist")
        try FileManager.default.createDirectory(
            at: container.folder.file("folder"), withIntermediateDirectories: false)
        let script = try script("bash", in: container)
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

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/fish")),
        arguments: [
            ("cachectl wat", "watch"), ("cachectl list --part", "--partials"),
            ("cachectl inventory --area ic", "icloud"), ("cachectl help wat", "watch"),
            ("cachectl --container x wat", "watch"), ("cachectl --json list --part", "--partials"),
        ])
    func fishCompletes(_ line: String, _ completion: String) throws {
        let container = try Container()
        let script = try script("fish", in: container)
        let folder = URL(filePath: try Tool.path).deletingLastPathComponent().path
        let outcome = try Tool.run(
            "/usr/bin/fish", ["--no-config", "-c", "source '\(script.path)'; complete -C '\(line)'"],
            environment: ["PATH": "\(folder):/usr/bin:/bin"], in: container.folder)
        #expect(outcome.text.split(whereSeparator: \.isWhitespace).first.map(String.init) == completion)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/zsh")))
    func zshReadsItsScript() throws {
        let container = try Container()
        let script = try script("zsh", in: container)
        #expect(try String(contentsOf: script, encoding: .utf8).hasPrefix("#compdef cachectl\n"))
        #expect(try Tool.run("/usr/bin/zsh", ["-n", script.path], in: container.folder).status == 0)
    }

    @Test func zshCompletesCommandsAfterHelp() throws {
        let outcome = try Tool.run(Tool.path, ["completions", "zsh"], in: TemporaryFolder())
        #expect(outcome.text.contains("':command:(put fetch list "))
    }

    @Test func anUnknownShellIsRefused() throws {
        let container = try Container()
        let outcome = try Tool.run(Tool.path, ["completions", "tcsh"], in: container.folder)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("'bash', 'zsh' or 'fish'"))
    }

    @Test func sharedOptionsMeanNothingToIt() throws {
        let container = try Container()
        let outcome = try Tool.run(Tool.path, ["--json", "completions", "bash"], in: container.folder)
        #expect(outcome.status == 0)
    }
}

@Suite struct ManualPageTests {
    private var page: String {
        get throws { ManualPage(tree: try CommandTree.ofCachectl(), date: "2026-03-01").text }
    }

    @Test func everyCommandAndOptionIsInIt() throws {
        let page = try page.replacing("\\-", with: "-")
        for command in try #require(CommandTree.ofCachectl().subcommands) where command.commandName != "help"
        {
            #expect(page.contains("\n.SS \(command.commandName)"))
            for name in (command.arguments ?? []).flatMap({ $0.names ?? [] })
            where name.name.count > 1 && name.name != "help" {
                #expect(page.contains(name.text), "\(name.text)")
            }
        }
        for code in ExitCode.allCases { #expect(page.contains("\n.B \(code.rawValue)\n\(code.meaning)\n")) }
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/mandoc")))
    func mandocFindsNothingWrong() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data((page + "\n").utf8), to: "cachectl.1")
        let outcome = try Tool.run("/usr/bin/mandoc", ["-Tlint", file.path], in: folder)
        #expect(outcome.text == "")
        #expect(outcome.status == 0)
    }

    @Test(arguments: [
        (".request", "\\&.request"), ("'request", "\\&'request"), ("a\\b", "a\\eb"), ("--json", "\\-\\-json"),
    ])
    func textMeansNothingButItself(_ text: String, _ escaped: String) {
        #expect(Roff.text(text) == escaped)
    }

    @Test func filledTextHasShortLinesAndNoRequests() {
        let text = Roff.filled(String(repeating: "word .x ", count: 100))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 76 && !$0.hasPrefix(".") })
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
