internal import ArgumentParser
internal import Foundation
internal import PrefetchCaching

struct Manual: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Prints the manual page, for man(1).",
        discussion: """
            EXAMPLES:
              # Install the page for 'man cachectl'
              cachectl manual >~/.local/share/man/man1/cachectl.1
              # Read it now
              cachectl manual | man -l -
            """)

    func run() throws {
        // A package that is built again has the same page (reproducible-builds.org/specs/source-date-epoch).
        let time =
            ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap(UInt32.init).map {
                Int64($0) * 1000
            }
            ?? Timestamp.now
        throw CleanExit.message(
            ManualPage(tree: try CommandTree.ofCachectl(), date: Timestamp.day(of: time)).text)
    }
}

/// A command with its arguments and subcommands, as ArgumentParser describes them (`ToolInfoV0`).
struct CommandTree: Decodable {
    struct Argument: Decodable {
        enum Kind: String, Decodable { case positional, option, flag }

        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: Kind
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?

        /// The argument as typed: `--key <key>`.
        var title: String {
            let value = valueName.map { "<\($0)>" } ?? ""
            guard kind != .positional else { return value }
            let name = (names ?? []).map(\.text).joined(separator: ", ")
            return kind == .option ? "\(name) \(value)" : name
        }
    }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let subcommands: [CommandTree]?
    let arguments: [Argument]?

    static func ofCachectl() throws(CommandFailure) -> CommandTree {
        struct Tool: Decodable { let command: CommandTree }
        do {
            return try JSONDecoder().decode(Tool.self, from: Data(Cachectl._dumpHelp().utf8)).command
        } catch {
            throw CommandFailure(.software, "the commands cannot be described: \(error)")
        }
    }

    fileprivate var displayed: [Argument] {
        (arguments ?? []).filter { $0.shouldDisplay && $0.title != "-h, --help" }
    }

    fileprivate var options: [Argument] { displayed.filter { $0.kind != .positional } }
}

/// The manual page of a command and its subcommands, in the macros of man(7).
struct ManualPage {
    /// The heading of the examples at the end of each discussion.
    static let examplesTitle = "EXAMPLES:"

    let tree: CommandTree
    /// The date in the page's footer, such as `2026-03-01`.
    let date: String

    var text: String {
        // Options that most commands share are described once.
        let commands = (tree.subcommands ?? []).filter { $0.commandName != "help" }
        let titles = commands.map { Set($0.options.map(\.title)) }
        let shared = Set(titles.joined()).filter { title in
            titles.count { $0.contains(title) } > commands.count / 2
        }
        var lines = [
            ".TH \(Roff.text(tree.commandName.uppercased())) 1 \(date) \"PrefetchCache \(PrefetchCache.version)\"",
            ".SH NAME", Roff.text("\(tree.commandName) - \(tree.abstract ?? "")"),
            ".SH SYNOPSIS", ".B \(Roff.text(tree.commandName))",
            Roff.text("[--container <dir>] [--app <id>] [<options>] <command> ..."),
            ".SH DESCRIPTION",
        ]
        lines += discussion(tree)
        lines.append(".SH OPTIONS OF ALL COMMANDS THAT WORK ON A CACHE")
        let example = zip(commands, titles).first { shared.isSubset(of: $1) }?.0
        for option in example?.options ?? [] where shared.contains(option.title) { lines += entry(option) }
        lines.append(".SH COMMANDS")
        for command in commands {
            lines += [
                ".SS \(Roff.text(synopsis(command, without: shared)))", Roff.filled(command.abstract ?? ""),
            ]
            for argument in command.displayed where !shared.contains(argument.title) {
                lines += entry(argument)
            }
            let discussion = discussion(command)
            if !discussion.isEmpty { lines += [".PP"] + discussion }
        }
        lines.append(".SH EXIT STATUS")
        for code in ExitCode.allCases { lines += [".TP", ".B \(code.rawValue)", Roff.text(code.meaning)] }
        lines += [
            ".SH ENVIRONMENT", ".TP", ".B NO_COLOR", "If set and not empty, disables colour.",
            ".SH SEE ALSO", ".BR lz4 (1)",
        ]
        return lines.joined(separator: "\n")
    }

    private func synopsis(_ command: CommandTree, without shared: Set<String>) -> String {
        let positional = command.displayed.filter { $0.kind == .positional }.map { argument in
            let name = "<\(argument.valueName ?? "")>" + (argument.isRepeating ? " ..." : "")
            return argument.isOptional ? "[\(name)]" : name
        }
        let hasOptions = command.options.contains { !shared.contains($0.title) }
        let words = [command.commandName] + (hasOptions ? ["[<options>]"] : []) + positional
        return words.joined(separator: " ")
    }

    private func entry(_ argument: CommandTree.Argument) -> [String] {
        var text = argument.abstract ?? ""
        if let values = argument.allValues { text += " One of \(values.joined(separator: ", "))." }
        if let value = argument.defaultValue { text += " Default: \(value)." }
        return [".TP", ".B \(Roff.text(argument.title))", text.isEmpty ? "\\&" : Roff.filled(text)]
    }

    private func discussion(_ command: CommandTree) -> [String] {
        guard let discussion = command.discussion else { return [] }
        let parts = discussion.components(separatedBy: "\(Self.examplesTitle)\n")
        let paragraphs = parts[0].split(separator: "\n\n").map { [Roff.filled(String($0))] }
        var lines = Array(paragraphs.joined(separator: [".PP"]))
        guard parts.count > 1 else { return lines }
        if !lines.isEmpty { lines.append(".PP") }
        lines += ["Examples:", ".PP", ".nf", ".RS"]
        lines += parts[1].split(separator: "\n").map { Roff.text(String($0.dropFirst(2))) }
        return lines + [".RE", ".fi"]
    }
}

/// The markup language of man(7).
enum Roff {
    /// Escaped text that roff fills, in short lines.
    static func filled(_ text: String) -> String {
        var lines: [String] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            if let last = lines.last, last.count + word.count < 72 {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines.map(Self.text).joined(separator: "\n")
    }

    /// Text with all roff markup escaped.
    static func text(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            // A minus sign, so that options can be copied from the page.
            let escaped = String(line).replacing({ $0 == "\\" || $0 == "-" }) { $0 == "-" ? "\\-" : "\\e" }
            // At the start of a line, `.` and `'` begin roff requests.
            return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
        }.joined(separator: "\n")
    }
}
