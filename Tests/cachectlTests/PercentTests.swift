import PrefetchCache
import Testing

@testable import cachectl

@Suite struct PercentTests {
    @Test(arguments: [(0, "0 %"), (5, "0.5 %"), (25, "2.5 %"), (250, "25 %"), (1000, "100 %")])
    func thousandthsAreWrittenAsPercent(_ perMille: Int64, _ text: String) {
        #expect(Percent.text(perMille) == text)
    }

    @Test func aPartOfAnyAmountIsANumber() {
        #expect(Int64.max.perMille(1000) == .max)
        #expect(Int64(1999).perMille(1) == 1)
    }
}
