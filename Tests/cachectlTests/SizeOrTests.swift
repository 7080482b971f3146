import PrefetchCache
import Testing

@testable import cachectl

@Suite struct SizeOrTests {
    @Test func theWordStandsForNoSize() throws {
        #expect(try SizeOr.parsing("none")("none") == .word)
        #expect(try SizeOr.parsing("none")("2kB") == .size(.bytes(2_000)))
    }

    @Test(
        arguments: [("", .empty), ("None", .notANumber), ("automatic", .notANumber), ("-1", .negative)]
            as [(String, ByteSizeError)])
    func anythingElseIsRefusedWithBothWaysOut(_ text: String, _ error: ByteSizeError) {
        let refused = #expect(throws: SizeOrError.self) { try SizeOr.parsing("none")(text) }
        #expect(refused == SizeOrError(word: "none", error: error))
        #expect(refused?.description == "\(error), or 'none'")
    }
}
