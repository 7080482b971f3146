import Foundation
import Testing

@Suite struct ExplainTests {
    let container: Container

    init() throws {
        container = try Container()
        for key in ["a", "b"] { try container.succeed("put", key, "-", "--source", "feed", input: text) }
    }

    @Test func whatGoesNextAndWhatIsBeforeItIsSaid() throws {
        let first = try container.json("explain", "a")
        #expect(first["filesBefore"] as? Int == 0)
        #expect(try container.succeed("explain", "a").text.contains("\nIt goes next, once more than "))
        let second = try container.json("explain", "b")
        #expect(second["filesBefore"] as? Int == 1)
        #expect(second["bytesBefore"] as? Int == (try container.list().first?["chargedBytes"] as? Int))
        #expect(second["policy"] as? String == "lru")
        #expect(try container.succeed("explain", "b").text.contains("\n1 file ("))
        // Looking is no use, and takes nothing away.
        #expect(try container.list().compactMap { $0["key"] as? String } == ["a", "b"])
    }

    @Test func aGuessIsToldFromARecord() throws {
        try container.succeed("put", "c", "-", "--source", "feed", input: text)
        try container.succeed("put", "d", "-", "--source", "other", input: text)
        #expect(
            try container.succeed("explain", "a").text.contains("\nNothing of this source was opened yet, "))
        #expect(
            try container.succeed("explain", "d").text.contains("\nToo little is known about its source; "))
        try container.succeed("open", "b")
        #expect(try container.succeed("explain", "a").text.contains("\nOf what this source sends, some "))
    }

    @Test func anOpenedItemDoesNotGo() throws {
        try container.succeed("open", "a")
        #expect(try container.json("explain", "a")["status"] as? String == "promoted")
        #expect(try container.succeed("explain", "a").text.contains("is the user's file: it is not evicted"))
        #expect(try container.cachectl("explain", "missing").status == 66)
    }
}
