import Foundation
import PrefetchCaching
import Testing

@testable import cachectl

/// What all commands have in common.
@Suite struct QuietTests {
    let container: Container

    init() async throws {
        container = try Container()
        for key in ["a", "b", "c"] { try await container.succeed("put", key, "-", input: text) }
        try await container.succeed("open", "c")
    }

    @Test func whatWasDoneIsNotTold() async throws {
        for arguments in [
            ["put", "new", "-"], ["evict", "a"], ["evict", "--bytes", "1"], ["evict", "--to-bytes", "0"],
            ["forget", "c"], ["trim"], ["configure", "--budget", "5MiB"],
        ] {
            let quiet = try await container.cachectl(arguments + ["--quiet"], input: text)
            #expect(quiet.status == 0, "\(arguments)")
            #expect(quiet.output.isEmpty && quiet.errors.isEmpty, "\(arguments)")
        }
    }

    @Test func whatWasAskedForIsPrinted() async throws {
        for arguments in [
            ["list", "--opened"], ["capacity"], ["configure"], ["cat", "a"], ["open", "a"],
            ["evict", "b", "--dry-run"], ["evict", "--to-bytes", "0", "--dry-run"], ["stats"],
        ] {
            let loud = try await container.cachectl(arguments)
            let quiet = try await container.cachectl(arguments + ["--quiet"])
            #expect(quiet.status == 0 && !quiet.output.isEmpty, "\(arguments)")
            // Figures of the volume differ from one moment to the next.
            if arguments != ["capacity"], arguments != ["configure"], arguments != ["stats"] {
                #expect(quiet.output == loud.output)
            }
        }
    }

    @Test func jsonAndFailuresArePrinted() async throws {
        #expect(try await container.json("evict", "a", "--quiet")["evicted"] as? [String] == ["a"])
        let outcome = try await container.cachectl("show", "nothing", "--quiet")
        #expect(outcome.status == 66)
        #expect(outcome.errors.hasPrefix("cachectl: error: "))
    }

    @Test func whatIsOnlyConfirmedIsJSONToo() async throws {
        for arguments in [["stats", "--reset", "--yes"], ["fetch", "--missing"]] {
            #expect(try await container.cachectl(arguments + ["--json"]).object["done"] is String)
        }
    }

    @Test(arguments: [
        ["put", "k", "-", "--to", "caches"], ["put", String(repeating: "k", count: 1025), "-"],
        ["frobnicate"],
        ["list", "k\u{1B}[2J"], ["list", "--container", ""], ["list", "--app", "../x"],
    ])
    func aWrongArgumentIsRefusedInOneLine(_ arguments: [String]) async throws {
        for json in [[], ["--json"]] {
            let place = arguments.contains("list") ? [] : ["--container", container.root.path]
            let outcome = try await Tool.run(arguments + json + place, in: container.folder)
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.errors.split(separator: "\n").count == 1 && outcome.errors.utf8.count < 1000)
            #expect(!outcome.errors.contains("\u{1B}"))
            if json.isEmpty {
                #expect(outcome.errors.hasPrefix("cachectl: error: "))
            } else {
                let failure = try outcome.failure
                #expect((failure.schemaVersion, failure.error, failure.exitCode) == (1, "usage", 64))
            }
        }
    }

    /// Keys, sources and files of hostile names, in text and in JSON.
    @Test func noNameControlsTheTerminal() async throws {
        let name = "n\u{1B}[2J\u{202E}\u{9B}\n\""
        for key in [name, "opened" + name] {
            try await container.succeed(
                "put", key, "-", "--source", name, "--to", "documents", input: text + Data(key.utf8))
        }
        try container.write("x", to: "Documents/\(name).log")
        for arguments in [
            ["open", "opened" + name], ["list"], ["list", "--opened"], ["show", name], ["events"],
            ["stats", "--by", "source"], ["inventory", "--files"], ["inventory", "--check"],
            ["inventory", "--draft-manifest"], ["show", "Documents/\(name).log"],
            ["put", "opened" + name, "-"],
            ["cat", "x" + name], ["evict", name, "x" + name], ["forget", "opened" + name, "x" + name],
            ["migrate", "--from", container.root.path + "/Documents", "--as", "cached", "--dry-run"],
        ] {
            for more in [[], ["--json"]] {
                let outcome = try await container.cachectl(arguments + more, input: text)
                let printed = outcome.text + outcome.errors
                let isHarmless = printed.unicodeScalars.allSatisfy { !$0.isTerminalHazard || $0 == "\n" }
                #expect(isHarmless, "\(arguments)")
                #expect(printed.contains(#"[2J\u"#) || arguments[0] == "open", "\(arguments)")
            }
        }
    }

    @Test func whatWasDoneBeforeAFailureIsKnown() async throws {
        var done: [ItemKey] = []
        let (unknown, failure) = await Trim().each(of: ["a", "a", "b", "c", "d"]) { key in
            if key == "c" { throw CommandFailure(.refused, nil) }
            done.append(key)
            return key == "a"
        }
        #expect(done == ["a", "b"] && unknown == ["b"])
        #expect(failure as? CommandFailure == CommandFailure(.refused, nil))
    }
}
