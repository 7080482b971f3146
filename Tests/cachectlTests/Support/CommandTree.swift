import Foundation

@testable import cachectl

/// A command with its arguments and subcommands, as `--experimental-dump-help` of ArgumentParser prints them.
struct CommandTree: Decodable {
    struct Argument: Decodable {
        enum Kind: String, Decodable { case positional, option, flag }

        struct Name: Decodable {
            let name: String
        }

        struct Completion: Decodable {
            struct Extensions: Decodable {}
            let file: Extensions?
            let directory: Extensions?
        }

        let kind: Kind
        let isOptional: Bool
        let names: [Name]?
        let valueName: String?
        let completionKind: Completion?

        /// Whether it is completed as the path of a file or folder.
        var isPath: Bool { completionKind?.file != nil || completionKind?.directory != nil }
    }

    let commandName: String
    let discussion: String?
    let subcommands: [CommandTree]?
    let arguments: [Argument]?

    /// All commands but `help`.
    static func commands() throws -> [CommandTree] {
        struct Dump: Decodable { let command: CommandTree }
        let dump = try Invocation.text(of: ["--experimental-dump-help"])
        let tool = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
        return (tool.subcommands ?? []).filter { $0.commandName != "help" }
    }
}
