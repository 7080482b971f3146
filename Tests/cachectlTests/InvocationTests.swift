import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import cachectl

@Suite struct InvocationTests {
    private func failure(of arguments: [String]) -> CommandFailure? {
        #expect(throws: CommandFailure.self) { try Invocation(arguments: arguments).request() }
    }

    @Test(arguments: [
        ["put"], ["put", "k"], ["put", "", "-"], ["put", String(repeating: "k", count: 1025), "-"],
        ["put", "k", "-", "another"], ["put", "k", "-", "--to", "caches"],
        ["put", "k", "-", "--name", "a/b"],
        ["put", "k", "-", "--name", ".hidden"], ["put", "k", "-", "--name", ""],
        ["put", "k", "-", "--backup", "maybe"], ["put", "k", "-", "--encoding", "zip"],
        ["put", "k", "-", "--expires", "7"], ["put", "k", "-", "--expires", "-7d"],
        ["put", "k", "-", "--expires", ""], ["put", "k", "-", "--priority", "nan"],
        ["put", "k", "-", "--priority", "1.1"], ["put", "k", "-", "--priority", "-0.1"],
        ["put", "k", "-", "--requested", "--expires", "7d"],
        ["put", "k", "-", "--requested", "--priority", "0"],
        ["put", "k", "-", "--requested", "--encoding", "lz4"],
        ["cat"], ["cat", "k", "--range", "x"], ["cat", "k", "--range", "2-1"], ["cat", "k", "--range"],
        ["open"], ["show"], ["show", "k", "l"], ["list", "k"], ["stats", "--frobnicate"], ["frobnicate"],
        ["configure", "--budget", ""], ["configure", "--budget", "-1"], ["configure", "--budget", "nan"],
        ["configure", "--budget", "2k"], ["configure", "--budget", "9223372036854775808"],
        ["configure", "--budget", "none"], ["configure", "--budget", "1GiB", "--cap", "2GiB"],
        ["configure", "--budget", "1GiB", "--cap", "none"], ["configure", "--cap", "automatic"],
        ["configure", "--cap", "-1"], ["configure", "--largest", "2k"], ["configure", "--largest", "none"],
        ["configure", "--storing", "yes"], ["configure", "--policy", "lfu"], ["configure", "1GiB"],
        ["trim", "k"], ["capacity", "k"], ["capacity", "--bytes", "1"],
        ["evict"], ["evict", "--bytes", "many"], ["evict", "a", "--all"], ["evict", "a", "--bytes", "1"],
        ["evict", "--all", "--bytes", "1"], ["evict", ""],
        ["inventory", "x"], ["inventory", "--files", "--csv"], ["inventory", "--csv", "--json"],
        ["inventory", "--check", "--kind", "item"], ["inventory", "--plist", "x"],
        ["inventory", "--sarif"], ["inventory", "--check", "--sarif", "--json"],
        ["inventory", "--unused-for", "30d"], ["inventory", "--check", "--unused-for", "30"],
        ["inventory", "--area", "nowhere"], ["inventory", "--kind", "thing"],
        ["inventory", "--larger-than", "many"], ["inventory", "--older-than", "1"],
    ])
    func aWrongArgumentIsAFailureOfUsage(_ arguments: [String]) throws {
        for shared in [["--container", "T"] + arguments, arguments + ["--container", "T"]] {
            let refused = try #require(failure(of: shared))
            #expect(refused.code == .usage)
            #expect(refused.message?.hasSuffix("')") == true)
        }
    }

    /// Every value of every command, given as bytes that are not UTF-8, and whether it is completed as a path: then it
    /// may have any bytes, and otherwise it is refused by name.
    @Test func onlyPathsMayHaveAnyBytes() throws {
        let bytes = ArgumentBytes.text(of: [0x61, 0xFF])
        var paths = 0
        for command in try CommandTree.commands() {
            for argument in command.arguments ?? [] where argument.kind != .flag {
                if argument.isPath { paths += 1 }
                let others = (command.arguments ?? []).filter {
                    $0.kind == .positional && !$0.isOptional && $0.valueName != argument.valueName
                }.map { _ in "k" }
                let name = argument.names?.last?.name
                var words = [command.commandName] + others
                if let name {
                    words += ["--\(name)", bytes]
                } else if argument.valueName == "file" {
                    words.append(bytes)
                } else {
                    words.insert(bytes, at: 1)
                }
                let message: String
                do {
                    _ = try Invocation(arguments: words).request()
                    message = ""
                } catch {
                    message = error.message ?? ""
                }
                let isNamed = message.contains(#"'a\xFF'"#)
                #expect(isNamed != argument.isPath, "\(words): \(message)")
            }
        }
        #expect(paths > 20)
    }

    @Test(arguments: [
        [0x61], [0xFF], [0x61, 0xFF, 0xFE, 0x62], [0xC3, 0xA9, 0xC3], [0x5C, 0x78, 0x46, 0x46],
    ])
    func aPathHasTheBytesOfItsArgument(_ bytes: [UInt8]) throws {
        #expect(try FilePath.parse(ArgumentBytes.text(of: bytes)).bytes == bytes)
    }

    @Test func aSizeInTwoWordsIsNoticed() throws {
        let message = try #require(
            failure(of: ["configure", "--budget", "20", "MB", "--container", "T"])?.message)
        #expect(message.hasPrefix("--budget 20 bytes holds nothing, "))
        let other = try #require(
            failure(of: ["list", "--larger-than", "20", "MB", "--container", "T"])?.message)
        #expect(other.hasPrefix("unexpected argument 'MB'; write a size without a space, such as 20MB"))
    }

    @Test(arguments: [
        ["list"], ["list", "--container"], ["--container"], ["--json"], ["--container", "x"],
        ["list", "--container", "--json"],
    ])
    func aCacheHasToBeNamed(_ arguments: [String]) throws {
        #expect(try #require(failure(of: arguments)).code == .usage)
    }

    @Test(arguments: [
        ["put", "k", "-"], ["put", "k", "f", "--to", "documents", "--name", "n", "--backup", "exclude"],
        ["cat", "k", "--range", "-5"], ["evict", "--all"], ["evict", "a", "b"], ["evict", "--", "--all"],
        ["put", "k", "f", "--requested"], ["put", "k", "f", "--expires", "7d", "--priority", "0.5"],
        ["configure", "--budget", "automatic", "--cap", "1GiB"], ["trim"], ["capacity"],
        ["configure", "--cap", "none", "--largest", "automatic", "--storing", "off", "--policy", "value"],
        ["evict", "--bytes", "1 MiB"], ["configure"], ["list"], ["stats"], ["show", "k"], ["open", "k"],
    ])
    func sharedOptionsMayStandBeforeTheCommandOrAfterIt(_ arguments: [String]) throws {
        let shared = ["--container", "T", "--json", "--verbose"]
        let behind = arguments.prefix(1) + shared + arguments.dropFirst()
        for arguments in [shared + arguments, Array(behind)] {
            guard case .command(let command) = try Invocation(arguments: arguments).request() else {
                Issue.record("no command in \(arguments)")
                return
            }
            #expect(command.shared.container == "T")
            #expect(command.shared.json)
            #expect(command.shared.verbose)
        }
    }

    @Test(arguments: [
        ([], "USAGE: cachectl ["), (["--help"], "USAGE: cachectl ["),
        (["help", "put"], "USAGE: cachectl put"),
        (["--container", "T", "help", "put"], "USAGE: cachectl put"),
        (["cat", "--help"], "USAGE: cachectl cat"),
        (["--json", "list", "--help"], "USAGE: cachectl list"),
        (["--generate-completion-script", "bash"], "#!/bin/bash"),
    ])
    func helpIsNoFailure(_ arguments: [String], _ excerpt: String) throws {
        guard case .text(let text) = try Invocation(arguments: arguments).request() else {
            Issue.record("no text")
            return
        }
        #expect(text.contains(excerpt))
    }
}

@Suite struct SharedArgumentsTests {
    private static let commands: Set = ["put", "list"]

    @Test(arguments: [
        ([], []),
        (["list"], ["list"]),
        (["--container", "T", "list"], ["list", "--container", "T"]),
        (["--container=T", "list"], ["list", "--container=T"]),
        (
            ["--json", "--app", "x", "--verbose", "put", "k", "f"],
            ["put", "--json", "--app", "x", "--verbose", "k", "f"]
        ),
        (["list", "--json", "--container", "T"], ["list", "--json", "--container", "T"]),
        (["--container", "list", "list"], ["list", "--container", "list"]),
        (["--container", "--json", "list"], ["list", "--container", "--json"]),
        (["--container", "", "list"], ["list", "--container", ""]),
        (["--json", "put", "--", "--container", "-"], ["put", "--json", "--", "--container", "-"]),
    ])
    func leadingSharedOptionsMoveBehindTheCommand(_ arguments: [String], _ moved: [String]) throws {
        #expect(try SharedArguments.movedAfterCommand(arguments, of: Self.commands) == moved)
    }

    @Test(arguments: [
        (["--json", "--help"], ["--help"]),
        (["--container", "T", "help", "put"], ["help", "put"]),
        (["--container", "T", "frobnicate"], ["frobnicate"]),
        (["--unknown", "list"], ["--unknown", "list"]),
    ])
    func whatIsNoCommandIsLeftToTheParser(_ arguments: [String], _ moved: [String]) throws {
        #expect(try SharedArguments.movedAfterCommand(arguments, of: Self.commands) == moved)
    }

    @Test(arguments: [["--json"], ["--container", "T"], ["--container", "list"], ["--app=x"]])
    func sharedOptionsAloneAreNoCommand(_ arguments: [String]) {
        #expect(throws: CommandFailure(.usage, "no command was given (see 'cachectl --help')")) {
            try SharedArguments.movedAfterCommand(arguments, of: Self.commands)
        }
    }

    @Test func anOptionWithoutItsValueIsNamed() {
        #expect(throws: CommandFailure(.usage, "--app needs a value (see 'cachectl --help')")) {
            try SharedArguments.movedAfterCommand(["--json", "--app"], of: Self.commands)
        }
    }

    @Test func everyCommandHasAName() {
        #expect(
            Cachectl.commandNames == [
                "put", "fetch", "list", "show", "cat", "open", "forget", "evict", "trim", "migrate", "purge",
                "repair", "verify", "inventory", "capacity", "configure",
                "stats", "events", "report", "watch",
            ])
    }
}

@Suite struct CommandSpellingTests {
    private static let spelling = CommandSpelling(names: Cachectl.allNames)

    @Test(arguments: [
        ("stat", "stats"), ("stast", "stats"), ("lst", "list"), ("verfy", "verify"), ("capcity", "capacity"),
        ("evcit", "evict"), ("fecht", "fetch"), ("opne", "open"), ("hepl", "help"),
    ])
    func aMistypedCommandIsRecognised(_ typed: String, _ meant: String) {
        for arguments in [[typed], [typed, "k"], ["help", typed]] {
            #expect(
                throws: CommandFailure(
                    .usage, "there is no command '\(typed)'; did you mean '\(meant)'? (see 'cachectl --help')"
                )
            ) { try Self.spelling.check(arguments) }
        }
    }

    @Test(arguments: ["frobnicate", "x", "", "delete", "ls", "rm"])
    func whatResemblesNoCommandIsNotGuessed(_ typed: String) {
        #expect(
            throws: CommandFailure(.usage, "there is no command '\(typed)' (see 'cachectl --help')")
        ) { try Self.spelling.check([typed]) }
    }

    @Test(arguments: [
        [], ["list", "k"], ["help"], ["help", "put"], ["--help"], ["help", "--help"],
    ])
    func whatIsRightPasses(_ arguments: [String]) throws {
        try Self.spelling.check(arguments)
    }

    @Test func aLongNameIsCutAndItsControlCharactersAreEscaped() {
        let typed = "\u{1B}[2J" + String(repeating: "x", count: 10_000)
        let shown = #"\u{1B}[2J"# + String(repeating: "x", count: 36)
        #expect(
            throws: CommandFailure(.usage, "there is no command '\(shown)' (see 'cachectl --help')")
        ) { try Self.spelling.check([typed]) }
    }
}
