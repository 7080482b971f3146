import Foundation
import Testing

@Suite struct ShowTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func anItemIsShownWhateverBecomesOfIt() async throws {
        try await container.succeed("put", "k", "-", "--source", "feed", "--name", "name.txt", input: text)
        let cached = try await container.json("show", "k")
        #expect(cached["status"] as? String == "cached" && cached["source"] as? String == "feed")
        #expect(try await container.succeed("show", "k").text.contains("source       feed\n"))

        let path = try await container.succeed("open", "k").text.trimmingCharacters(in: .newlines)
        let opened = try await container.json("show", "k")
        #expect(opened["status"] as? String == "promoted")
        #expect(opened["path"] as? String == path)
        #expect(opened["area"] as? String == "support")
        #expect(opened["name"] as? String == "name.txt")
        #expect(opened["contentBytes"] as? Int == text.count)
        #expect(try await container.succeed("show", "k").text.contains("path       \(path)\n"))

        try FileManager.default.removeItem(atPath: path)
        #expect(try await container.json("show", "k")["status"] as? String == "lost")
        let lines = try await container.succeed("show", "k").text
        #expect(lines.hasPrefix("status     lost\n"))
        #expect(lines.contains("now        none: it was moved or deleted"))
        for command in ["open", "cat"] {
            let outcome = try await container.cachectl(command, "k")
            #expect(outcome.status == 66 && outcome.errors.contains("moved or deleted"))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        let relative = "\(path.dropFirst(container.root.path.count + 1))"
        #expect(
            try await container.cachectl("show", relative).errors.contains("the item 'k' was opened at "))
    }

    @Test(arguments: [0, 1000])
    func aDamagedItemIsNotShownAsIfNothingWere(_ length: UInt64) async throws {
        try await container.succeed("put", "k", "-", "--encoding", "identity", input: noise(200_000, seed: 1))
        let handle = try FileHandle(forWritingTo: await container.onlyItemFile())
        try handle.truncate(atOffset: length)
        try handle.close()
        for _ in 0..<2 {
            let outcome = try await container.cachectl("show", "k")
            #expect(outcome.status == 65, "a look moves nothing to the quarantine")
            #expect(outcome.output.isEmpty)
        }
    }

    @Test func anUnknownKeyIsNotFound() async throws {
        let outcome = try await container.cachectl("show", "k\u{1B}")
        #expect(outcome.status == 66 && outcome.output.isEmpty)
        #expect(
            outcome.errors
                == "cachectl: error: there is no item 'k\\u{1B}'; 'cachectl list' shows what there is, "
                + "and 'cachectl events --key' what happened to a key\n")
    }

    @Test func whatGoesNextAndWhatIsBeforeItIsSaid() async throws {
        for key in ["a", "b"] {
            try await container.succeed("put", key, "-", "--source", "feed", input: text)
        }
        func outlook(_ key: String) async throws -> [String: Any]? {
            try await container.json("show", key)["outlook"] as? [String: Any]
        }
        let first = try await outlook("a")
        #expect(first?["filesBefore"] as? Int == 0)
        #expect(try await container.succeed("show", "a").text.contains("\nIt goes next, once more than "))
        let second = try await outlook("b")
        #expect(second?["filesBefore"] as? Int == 1)
        let charged = try await container.list().first?["chargedBytes"] as? Int
        #expect(second?["bytesBefore"] as? Int == charged)
        #expect(second?["policy"] as? String == "lru")
        #expect(try await container.succeed("show", "b").text.contains("\n1 file ("))
    }

    @Test func aGuessIsToldFromARecord() async throws {
        for key in ["a", "b", "c"] {
            try await container.succeed("put", key, "-", "--source", "feed", input: text)
        }
        try await container.succeed("put", "d", "-", "--source", "other", input: text)
        func isTold(_ sentence: String, of key: String) async throws -> Bool {
            try await container.succeed("show", key).text.contains("\n\(sentence)")
        }
        #expect(try await isTold("Nothing of this source was opened yet, ", of: "a"))
        #expect(try await isTold("Too little is known about its source; ", of: "d"))
        try await container.succeed("open", "b")
        #expect(try await isTold("Of what this source sends, some ", of: "a"))
    }
}
