import Foundation
import Testing

@Suite struct ConfigureTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    private var file: URL {
        container.root.appending(path: "Library/Application Support/PrefetchCache/configuration.json")
    }

    @Test func withoutOptionsNothingIsWritten() throws {
        #expect(try container.succeed("configure").text == "budget  512 MiB (536870912 bytes, the default)\n")
        #expect(try container.json("configure")["isDefaultBudget"] as? Bool == true)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func theBudgetIsKept() throws {
        try container.succeed("configure", "--budget", "1.5MiB")
        let object = try container.json("configure")
        #expect(object["budgetBytes"] as? Int == 1_572_864)
        #expect(object["isDefaultBudget"] as? Bool == false)
        #expect(try container.json("stats")["budgetBytes"] as? Int == 1_572_864)
    }

    @Test func aSmallerBudgetEvictsAtOnce() throws {
        for key in ["a", "b"] { try container.succeed("put", key, "-", input: noise(100_000, seed: 1)) }
        try container.succeed("configure", "--budget", "250kB")
        #expect(try container.list().compactMap { $0["key"] as? String } == ["b"])
    }

    @Test(arguments: ["{", #"{"schemaVersion":1,"budgetBytes":-1}"#, #"{"schemaVersion":99}"#])
    func aFileThatCannotBeUsedIsNamedAndLeftAlone(_ content: String) throws {
        try container.succeed("configure", "--budget", "1MiB")
        try Data(content.utf8).write(to: file)
        let outcome = try container.cachectl("configure", "--budget", "2MiB")
        #expect(outcome.status == 78)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("configuration.json"))
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(try Data(contentsOf: file) == Data(content.utf8))
    }
}
