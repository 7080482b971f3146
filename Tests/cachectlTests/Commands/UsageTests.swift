import Foundation
import Testing

@Suite struct UsageTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test(arguments: [
        ["put", "k", "-", "--to", "caches"], ["put", String(repeating: "k", count: 1025), "-"],
        ["frobnicate"],
        ["list", "k\u{1B}[2J"],
    ])
    func aWrongArgumentIsRefusedInOneLine(_ arguments: [String]) throws {
        for json in [[], ["--json"]] {
            let outcome = try Tool.run(
                Tool.path, json + ["--container", container.root.path] + arguments, in: container.folder)
            #expect(outcome.status == 64)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(outcome.errors.utf8.count < 1000)
            #expect(!outcome.errors.contains("\u{1B}"))
            if json.isEmpty {
                #expect(outcome.errors.hasPrefix("cachectl: error: "))
            } else {
                let failure = try outcome.failure
                #expect((failure.schemaVersion, failure.error, failure.exitCode) == (1, "usage", 64))
            }
        }
    }

    @Test(arguments: [[], ["--container", ""], ["--app", "../x"]])
    func theCacheHasToBeNamed(_ options: [String]) throws {
        let outcome = try Tool.run(Tool.path, ["list"] + options, in: container.folder)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func helpIsPrinted() throws {
        let outcome = try Tool.run(Tool.path, ["--json", "list", "--help"], in: container.folder)
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("USAGE: cachectl list"))
        #expect(outcome.errors.isEmpty)
    }

    @Test func wrongUsageLeavesNothingBehind() throws {
        let container = try Container(hasCache: false)
        #expect(try container.cachectl("put", "", "-").status == 64)
        #expect(try container.cachectl("configure", "--budget", "x").status == 64)
        #expect(!FileManager.default.fileExists(atPath: container.root.path))
    }

    @Test func sharedOptionsMayStandBeforeTheCommandOrAfterIt() throws {
        let path = container.root.path
        let before = try Tool.run(Tool.path, ["--container", path, "--json", "stats"], in: container.folder)
        let after = try Tool.run(Tool.path, ["stats", "--json", "--container=\(path)"], in: container.folder)
        #expect(before.status == 0)
        #expect(before.output == after.output)
    }
}
