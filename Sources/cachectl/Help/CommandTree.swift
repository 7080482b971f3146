internal import ArgumentParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A command with its arguments and subcommands, as ArgumentParser describes them (`ToolInfoV0`).
struct CommandTree: Decodable {
    struct Argument: Decodable {
        enum Kind: String, Decodable {
            case positional, option, flag
        }

        struct Name: Decodable {
            let kind: String
            let name: String

            /// The name as typed.
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
    }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let subcommands: [CommandTree]?
    let arguments: [Argument]?

    static func ofCachectl() throws -> CommandTree {
        struct Tool: Decodable {
            let command: CommandTree
        }
        do {
            _ = try Cachectl.parseAsRoot(["--experimental-dump-help"])
        } catch {
            let description = Cachectl.fullMessage(for: error)
            return try JSONDecoder().decode(Tool.self, from: Data(description.utf8)).command
        }
        throw CommandFailure(.software, "ArgumentParser does not describe the commands")
    }
}
