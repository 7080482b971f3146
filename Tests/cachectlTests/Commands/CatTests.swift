import Foundation
import Testing

@Suite struct CatTests {
    let container: Container

    init() throws {
        container = try Container()
    }

    @Test func aRangeIsCutFromTheContent() async throws {
        let content = noise(2_500_000, seed: 7)
        try await container.succeed("put", "k", "-", input: content)
        for isOpened in [false, true] {
            if isOpened { try await container.succeed("open", "k") }
            for (range, bytes) in [
                ("0-99", 0..<100), ("100-", 100..<2_500_000), ("-5", 2_499_995..<2_500_000),
                ("1048570-1048580", 1_048_570..<1_048_581),
            ] {
                let printed = try await container.succeed("cat", "k", "--range", range).output
                #expect(printed == content.subdata(in: bytes), "\(range)")
            }
        }
    }

    @Test func aReaderThatGoesAwayIsNoFailure() async throws {
        try await container.succeed("put", "k", "-", input: noise(4 << 20, seed: 7))
        let outcome = try container.shell(
            #"{ "$CACHECTL" cat k --container "$CONTAINER"; echo $? >status; } | head -c 10 | wc -c && cat status"#
        )
        #expect(outcome.text.split(whereSeparator: \.isWhitespace) == ["10", "0"])
        #expect(outcome.errors.isEmpty)
    }

    // MARK: Damage

    @Test(arguments: [("cat", "lz4"), ("cat", "identity"), ("open", "lz4")])
    func aDamagedItemIsReportedAndSetAside(_ command: String, _ encoding: String) async throws {
        try await container.succeed("put", "k", "-", "--encoding", encoding, input: text)
        let file = try await container.onlyItemFile()
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let outcome = try await container.cachectl(command, "k", "--verbose")
        #expect(outcome.status == 65 && outcome.output.isEmpty)
        let errors = outcome.errors.split(separator: "\n")
        #expect(
            errors.last?.hasPrefix("cachectl: error: ") == true && errors.last?.contains("damaged") == true)
        #expect(errors.contains { $0.hasPrefix("cachectl: warning: A damaged item was quarantined. key=k ") })
        #expect(try await container.cachectl(command, "k").status == 66)
        let statistics = try await container.json("stats")
        #expect(statistics["quarantinedItems"] as? Int == 1 && statistics["items"] as? Int == 0)
    }
}
