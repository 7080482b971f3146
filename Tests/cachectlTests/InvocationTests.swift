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
        ["put", "k", "-", "--folder", "../x"], ["put", "k", "-", "--folder", ""],
        ["put", "k", "-", "--backup", "maybe"], ["put", "k", "-", "--encoding", "zip"],
        ["put", "k", "-", "--expires", "7"], ["put", "k", "-", "--expires", "-7d"],
        ["put", "k", "-", "--expires", ""], ["put", "k", "-", "--priority", "nan"],
        ["put", "k", "-", "--priority", "1.1"], ["put", "k", "-", "--priority", "-0.1"],
        ["put", "k", "-", "--requested", "--expires", "7d"],
        ["put", "k", "-", "--requested", "--priority", "0"],
        ["put", "k", "-", "--requested", "--encoding", "lz4"],
        ["put", "k", "-", "--to", "icloud", "--backup", "exclude"],
        ["put", "k", "-", "--to", "none", "--requested"],
        ["cat"], ["cat", "k", "--file", "a", "--follow"], ["cat", "k", "--range", "x"],
        ["cat", "k", "--range", "2-1"], ["cat", "k", "--range"],
        ["open"], ["show"], ["show", "k", "l"], ["list", "k"], ["stats", "--frobnicate"], ["frobnicate"],
        ["configure", "--budget", ""], ["configure", "--budget", "-1"], ["configure", "--budget", "nan"],
        ["configure", "--budget", "2k"], ["configure", "--budget", "9223372036854775808"],
        ["configure", "--budget", "none"], ["configure", "--budget", "1GiB", "--cap", "2GiB"],
        ["configure", "--budget", "1GiB", "--cap", "none"], ["configure", "--cap", "automatic"],
        ["configure", "--cap", "-1"], ["configure", "--largest", "2k"], ["configure", "--largest", "none"],
        ["configure", "--storing", "yes"], ["configure", "--policy", "lfu"], ["configure", "1GiB"],
        ["configure", "--budget", "x"], ["list", "--opened", "--sort", "expiry"],
        ["list", "--opened", "--partials"], ["list", "--quiet", "--verbose"],
        ["purge", "--older-than", "30d"], ["purge", "--excluded"],
        ["migrate", "--from", "x"], ["migrate", "--as", "cached"], ["migrate", "--source", "s"],
        ["migrate", "--backup", "exclude"], ["stats", "--reset", "--yes", "--by", "source"],
        ["stats", "--yes"], ["stats", "--reset"],
        ["watch", "--interval", "1"], ["watch", "--interval", "0s"], ["watch", "--count", "0"],
        ["watch", "--count", "-1"],
        ["cat", "k", "--timeout", "1"], ["cat", "k", "--timeout", "0s"], ["fetch"],
        ["fetch", "http://a/", "http://b/", "--key", "k"],
        ["fetch", "http://a/", "--from-file", "l", "--name", "n"], ["fetch", "http://a/", "--parallel", "0"],
        ["fetch", "http://a/", "--replace", "--keep"],
        ["fetch", "http://a/", "--dry-run"],
        ["fetch", "http://a/", "--bundle", "k", "--key", "l"],
        ["fetch", "http://a/", "--bundle", "k", "--record-url"],
        ["fetch", "http://a/", "--bundle", "k", "--to", "none"],
        ["fetch", "http://a/", "--bundle", "k", "--to", "icloud"],
        ["trim", "k"], ["capacity", "k"], ["capacity", "--bytes", "1"],
        ["evict"], ["evict", "--bytes", "many"], ["evict", "a", "--all"], ["evict", "a", "--bytes", "1"],
        ["evict", "--all", "--bytes", "1"], ["evict", ""],
        ["inventory", "x"], ["inventory", "--files", "--check"], ["inventory", "--csv"],
        ["inventory", "--plist", "x"],
        ["inventory", "--fix-script", "--json"],
        ["inventory", "--unused-for", "30d"], ["inventory", "--check", "--unused-for", "30"],
        ["inventory", "--manifest", "x"], ["inventory", "--draft-manifest", "--check"],
        ["inventory", "--draft-manifest", "--manifest", "x"],
    ])
    func aWrongArgumentIsAFailureOfUsage(_ arguments: [String]) throws {
        let refused = try #require(failure(of: arguments + ["--container", "T"]))
        #expect(refused.code == .usage)
        #expect(refused.message?.hasSuffix("')") == true)
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
        ["list"], ["list", "--container"], ["--json"], ["--container", "T", "list"],
        ["list", "--container", "--json"],
    ])
    func aCacheHasToBeNamed(_ arguments: [String]) throws {
        #expect(try #require(failure(of: arguments)).code == .usage)
    }

    @Test(arguments: [
        ["put", "k", "-"], ["put", "k", "f", "--to", "documents", "--name", "n", "--backup", "exclude"],
        ["cat", "k", "--range", "-5"], ["evict", "--all"], ["evict", "a", "b"],
        ["put", "k", "f", "--requested"], ["put", "k", "f", "--expires", "7d", "--priority", "0.5"],
        ["configure", "--budget", "automatic", "--cap", "1GiB"], ["trim"], ["capacity"],
        ["configure", "--cap", "none", "--largest", "automatic", "--storing", "off", "--policy", "value"],
        ["evict", "--bytes", "1 MiB"], ["configure"], ["list"], ["stats"], ["show", "k"], ["open", "k"],
    ])
    func sharedOptionsFollowTheCommand(_ arguments: [String]) throws {
        let shared = ["--container", "T", "--json", "--verbose"]
        for arguments in [arguments + shared, arguments.prefix(1) + shared + arguments.dropFirst()] {
            guard case .command(let command) = try Invocation(arguments: arguments).request() else {
                Issue.record("no command in \(arguments)")
                return
            }
            #expect(command.shared.container == "T" && command.shared.json && command.shared.verbose)
        }
    }

    @Test(arguments: [
        ([], "USAGE: cachectl <command>"), (["--help"], "USAGE: cachectl <command>"),
        (["help", "put"], "USAGE: cachectl put"), (["cat", "--help"], "USAGE: cachectl cat"),
        (["list", "--json", "--help"], "USAGE: cachectl list"),
        (["--generate-completion-script", "bash"], "#!/bin/bash"),
    ])
    func helpIsNoFailure(_ arguments: [String], _ excerpt: String) throws {
        let text = try Invocation.text(of: arguments)
        #expect(text.contains(excerpt))
        if excerpt.hasSuffix("<command>") {
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 40)
        }
    }

    @Test func theNameOfACommandIsChecked() {
        for arguments in [["lst"], ["help", "lst", "k"]] {
            #expect(failure(of: arguments)?.message == "there is no command 'lst' (see 'cachectl --help')")
        }
        let long = String(repeating: "x", count: 10_000)
        #expect((failure(of: [long])?.message ?? long).count < 100)
    }

    /// The examples at the end of a command's help.
    @Test func everyExampleIsAccepted() throws {
        for command in try CommandTree.commands() {
            let parts = try #require(command.discussion).components(separatedBy: "EXAMPLES:\n")
            try #require(parts.count == 2, "\(command.commandName) has no examples")
            let lines = parts[1].split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            for example in lines where !example.hasPrefix("#") {
                // A wrapped line cannot be copied.
                #expect(example.count <= 78, "\(example)")
                try Invocation.accept(example)
            }
        }
    }

    @Test func everyCommandOfTheReadmeIsAccepted() throws {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../../README.md")
        let readme = try String(contentsOf: file.standardized, encoding: .utf8)
        let commands = readme.matches(of: /(?m)^    (?:\$ )?(cachectl [a-z]+ .*)$/).map { String($0.1) }
        #expect(commands.count > 10)
        for command in commands { try Invocation.accept(command) }
    }
}

extension Invocation {
    /// What is printed instead of running a command.
    static func text(of arguments: [String]) throws -> String {
        guard case .text(let text) = try Invocation(arguments: arguments).request() else {
            Issue.record("no text")
            return ""
        }
        return text
    }

    /// Expects that a line of shell with a command, or the beginning of one, could be run.
    fileprivate static func accept(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
            .prefix { !["#", ">", "<", "|"].contains($0.prefix(1)) }
        #expect(words.first == "cachectl")
        #expect(throws: Never.self, "\(line)") {
            try Invocation(arguments: Array(words.dropFirst())).request()
        }
    }
}
