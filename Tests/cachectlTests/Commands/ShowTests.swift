import Foundation
import Testing

@Suite struct ShowTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func aCachedItemIsShown() throws {
        try container.succeed("put", "k", "-", "--source", "feed", input: text)
        let object = try container.json("show", "k")
        #expect(object["status"] as? String == "cached")
        #expect(object["source"] as? String == "feed")
        let lines = try container.succeed("show", "k").text
        #expect(lines.contains("status       cached\n"))
        #expect(lines.contains("source       feed\n"))
    }

    @Test func anOpenedItemIsShown() throws {
        try container.succeed("put", "k", "-", "--name", "name.txt", input: text)
        let path = try container.succeed("open", "k").text.trimmingCharacters(in: .newlines)
        let object = try container.json("show", "k")
        #expect(object["status"] as? String == "promoted")
        #expect(object["path"] as? String == path)
        #expect(object["area"] as? String == "support")
        #expect(object["name"] as? String == "name.txt")
        #expect(object["contentBytes"] as? Int == text.count)
        #expect(try container.succeed("show", "k").text.contains("path       \(path)\n"))
    }

    @Test(arguments: [0, 1000])
    func aDamagedItemIsNotShownAsIfNothingWere(_ length: UInt64) throws {
        try container.succeed("put", "k", "-", "--encoding", "identity", input: noise(200_000, seed: 1))
        let handle = try FileHandle(forWritingTo: container.onlyItemFile())
        try handle.truncate(atOffset: length)
        try handle.close()
        let outcome = try container.cachectl("show", "k")
        #expect(outcome.status == 65)
        #expect(outcome.output.isEmpty)
        #expect(try container.cachectl("show", "k").status == 65, "a look moves nothing to the quarantine")
    }

    @Test func anUnknownKeyIsNotFound() throws {
        let outcome = try container.cachectl("show", "k\u{1B}")
        #expect(outcome.status == 66)
        #expect(outcome.output.isEmpty)
        #expect(
            outcome.errors
                == "cachectl: error: there is no item 'k\\u{1B}'; 'cachectl list' shows what there is, "
                + "and 'cachectl events --key' what happened to a key\n")
    }

    @Test func anOpenedFileThatWasDeletedIsRemembered() throws {
        try container.succeed("put", "k", "-", "--name", "name.txt", input: text)
        let path = try container.succeed("open", "k").text.trimmingCharacters(in: .newlines)
        try FileManager.default.removeItem(atPath: path)
        #expect(try container.json("show", "k")["status"] as? String == "lost")
        let lines = try container.succeed("show", "k").text
        #expect(lines.hasPrefix("status     lost\n"))
        #expect(lines.contains("now        none: it was moved or deleted"))
        for command in ["open", "cat"] {
            let outcome = try container.cachectl(command, "k")
            #expect(outcome.status == 66)
            #expect(outcome.errors.contains("moved or deleted"))
        }
        let relative = path.dropFirst(container.root.path.count + 1)
        #expect(try container.cachectl("show", "\(relative)").errors.contains("the item 'k' was opened at "))
    }

    @Test func showingIsNoUse() throws {
        for key in ["a", "b"] { try container.succeed("put", key, "-", input: text) }
        try container.succeed("show", "a")
        #expect(try container.list().compactMap { $0["key"] as? String } == ["a", "b"])
    }

    @Test func whatGoesNextAndWhatIsBeforeItIsSaid() throws {
        for key in ["a", "b"] { try container.succeed("put", key, "-", "--source", "feed", input: text) }
        func outlook(_ key: String) throws -> [String: Any]? {
            try container.json("show", key)["outlook"] as? [String: Any]
        }
        let first = try outlook("a")
        #expect(first?["filesBefore"] as? Int == 0)
        #expect(try container.succeed("show", "a").text.contains("\nIt goes next, once more than "))
        let second = try outlook("b")
        #expect(second?["filesBefore"] as? Int == 1)
        #expect(second?["bytesBefore"] as? Int == (try container.list().first?["chargedBytes"] as? Int))
        #expect(second?["policy"] as? String == "lru")
        #expect(try container.succeed("show", "b").text.contains("\n1 file ("))
    }

    @Test func aGuessIsToldFromARecord() throws {
        for key in ["a", "b", "c"] { try container.succeed("put", key, "-", "--source", "feed", input: text) }
        try container.succeed("put", "d", "-", "--source", "other", input: text)
        #expect(try container.succeed("show", "a").text.contains("\nNothing of this source was opened yet, "))
        #expect(try container.succeed("show", "d").text.contains("\nToo little is known about its source; "))
        try container.succeed("open", "b")
        #expect(try container.succeed("show", "a").text.contains("\nOf what this source sends, some "))
    }
}
