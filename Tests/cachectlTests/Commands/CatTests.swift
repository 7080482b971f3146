import Foundation
import Testing

@Suite struct CatTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test(arguments: [
        ("0-99", 0..<100), ("100-", 100..<2_500_000), ("-5", 2_499_995..<2_500_000),
        ("1048570-1048580", 1_048_570..<1_048_581),
    ])
    func aRangeIsCutFromTheContent(_ range: String, _ bytes: Range<Int>) throws {
        let content = noise(2_500_000, seed: 7)
        try container.succeed("put", "k", "-", input: content)
        #expect(try container.succeed("cat", "k", "--range", range).output == content.subdata(in: bytes))
        try container.succeed("open", "k")
        #expect(try container.succeed("cat", "k", "--range", range).output == content.subdata(in: bytes))
    }

    @Test(arguments: ["0-10", "10-", "10-10", "-11"])
    func aRangePastTheEndIsAnErrorThatNamesTheLength(_ range: String) throws {
        try container.succeed("put", "k", "-", input: noise(10, seed: 7))
        let outcome = try container.cachectl("cat", "k", "--range", range)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(
            outcome.errors == "cachectl: error: the range \(range) is past the end: the item has 10 bytes\n")
    }

    @Test func anOpenedItemIsReadFromItsFile() throws {
        try container.succeed("put", "k", "-", input: text)
        let path = try container.succeed("open", "k").text.trimmingCharacters(in: .newlines)
        try Data("changed by its user".utf8).write(to: URL(filePath: path))
        #expect(try container.succeed("cat", "k").text == "changed by its user")
        #expect(try container.succeed("cat", "k", "--range", "-4").text == "user")
    }

    @Test func readingDoesNotPromote() throws {
        try container.succeed("put", "k", "-", "--to", "documents", input: text)
        try container.succeed("cat", "k")
        try container.succeed("cat", "k", "--range", "0-0")
        #expect(try container.list().count == 1)
        #expect(try container.json("stats")["promotions"] as? Int == 0)
    }

    @Test(arguments: [[], ["--range", "0-1"], ["--range", "-1"]])
    func anUnknownKeyIsNotFound(_ range: [String]) throws {
        let outcome = try Tool.run(
            Tool.path, ["cat", "k", "--container", container.root.path] + range, in: container.folder)
        #expect(outcome.status == 66)
        #expect(outcome.output.isEmpty)
    }

    @Test func aReaderThatGoesAwayIsNoFailure() throws {
        try container.succeed("put", "k", "-", input: noise(4 << 20, seed: 7))
        let outcome = try container.shell(
            #"{ "$CACHECTL" cat k --container "$CONTAINER"; echo $? >status; } | head -c 10 | wc -c && cat status"#
        )
        #expect(outcome.text.split(whereSeparator: \.isWhitespace) == ["10", "0"])
        #expect(outcome.errors.isEmpty)
    }
}
