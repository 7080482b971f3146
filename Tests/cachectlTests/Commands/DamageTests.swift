import Foundation
import Testing

@Suite struct DamageTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    /// Stores an item and changes one bit of its content on disk.
    private func storeDamaged(encoding: String = "identity") throws {
        try container.succeed("put", "k", "-", "--encoding", encoding, input: text)
        let file = try container.onlyItemFile()
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
    }

    @Test(arguments: [("cat", "lz4"), ("cat", "identity"), ("open", "lz4")])
    func aDamagedItemIsReportedAndNothingOfItIsPrinted(_ command: String, _ encoding: String) throws {
        try storeDamaged(encoding: encoding)
        let outcome = try container.cachectl(command, "k")
        #expect(outcome.status == 65)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("damaged"))
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func aDamagedItemIsSetAside() throws {
        try storeDamaged()
        #expect(try container.cachectl("cat", "k").status == 65)
        #expect(try container.cachectl("cat", "k").status == 66)
        let statistics = try container.json("stats")
        #expect(statistics["quarantinedItems"] as? Int == 1)
        #expect(statistics["items"] as? Int == 0)
    }

    @Test func aPurgedItemIsNotFound() throws {
        try container.succeed("put", "k", "-", input: text)
        try Data().write(to: container.onlyItemFile())
        let outcome = try container.cachectl("cat", "k")
        #expect(outcome.status == 66)
        #expect(outcome.errors.contains("purged"))
    }

    @Test func verboseTellsWhatTheCacheDoes() throws {
        try storeDamaged()
        let outcome = try container.cachectl("cat", "k", "--verbose")
        #expect(outcome.status == 65)
        #expect(outcome.errors.contains("cachectl: warning: A damaged item was quarantined. key=k "))
    }
}
