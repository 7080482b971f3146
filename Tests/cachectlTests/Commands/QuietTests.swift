import Foundation
import Testing

@Suite struct QuietTests {
    let container: Container

    init() throws {
        container = try Container()
        for key in ["a", "b", "c"] { try container.succeed("put", key, "-", input: text) }
        try container.succeed("open", "c")
    }

    @Test(arguments: [
        ["put", "new", "-"], ["evict", "a"], ["evict", "--bytes", "1"],
        ["evict", "--to-bytes", "0"], ["forget", "c"], ["trim"],
        ["configure", "--budget", "5MiB"], ["report", "--html", "r.html"],
    ])
    func whatWasDoneIsNotTold(_ arguments: [String]) throws {
        let options = ["--container", container.root.path]
        let quiet = try Tool.run(
            Tool.path, arguments + options + ["--quiet"], input: text, in: container.folder)
        #expect(quiet.status == 0)
        #expect(quiet.output.isEmpty && quiet.errors.isEmpty)
    }

    @Test(arguments: [
        ["list", "--opened"], ["stats"], ["capacity"], ["configure"], ["cat", "a"], ["open", "a"],
        ["evict", "a", "--dry-run"], ["evict", "--to-bytes", "0", "--dry-run"],
    ])
    func whatWasAskedForIsPrinted(_ arguments: [String]) throws {
        let options = ["--container", container.root.path]
        let loud = try Tool.run(Tool.path, arguments + options, in: container.folder)
        let quiet = try Tool.run(Tool.path, ["--quiet"] + options + arguments, in: container.folder)
        #expect(quiet.status == 0)
        #expect(!quiet.output.isEmpty && quiet.output == loud.output)
    }

    @Test func jsonAndFailuresArePrinted() throws {
        #expect(try container.json("evict", "a", "--quiet")["evicted"] as? [String] == ["a"])
        let outcome = try container.cachectl("show", "nothing", "--quiet")
        #expect(outcome.status == 66)
        #expect(outcome.errors.hasPrefix("cachectl: error: "))
    }

    @Test func itContradictsVerbose() throws {
        #expect(try container.cachectl("list", "--quiet", "--verbose").status == 64)
    }
}
