import Testing

@testable import cachectl

@Suite struct ColumnsTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한", 2), ("👩‍👩‍👧", 2), ("–", 1),
    ])
    func textTakesAsManyColumnsAsATerminalGivesIt(_ text: String, _ columns: Int) {
        #expect(text.columns == columns)
    }

    @Test func textIsCutBetweenCharacters() {
        #expect("日本語".prefix(columns: 5) == "日本")
        #expect("日本語".suffix(columns: 3) == "語")
        #expect("abc".prefix(columns: 0) == "")
    }

    @Test(arguments: ["", "a", "abcdef", "日本語日本語", "e\u{301}e\u{301}"], 0...8)
    func fittedTextHasTheColumnsThatWereAskedFor(_ text: String, _ columns: Int) {
        #expect(text.fitted(columns: columns).columns == columns)
    }
}

@Suite struct StyledLineTests {
    private let line = StyledLine("ab", .bold) + StyledLine("cdef") + StyledLine("gh", .bad)

    @Test(arguments: [(20, "abcdefgh"), (5, "abcde"), (2, "ab"), (0, ""), (-1, "")])
    func aLineIsCut(_ columns: Int, _ text: String) {
        #expect(line.rendered(columns: columns, isColoured: false) == text)
    }

    @Test func everyStyleEndsWhereItsTextDoes() {
        #expect(line.rendered(columns: 7, isColoured: true) == "\u{1B}[1mab\u{1B}[0mcdef\u{1B}[31mg\u{1B}[0m")
    }

    @Test func nothingTakesThePlaceOfAWideCharacterThatHasNoRoom() {
        #expect((StyledLine("日本") + StyledLine("x")).rendered(columns: 3, isColoured: false) == "日")
    }
}

@Suite struct IntervalTests {
    @Test(arguments: [("100ms", 100), ("1s", 1000), ("2m", 120_000), ("60m", 3_600_000), ("5 s", 5000)])
    func anIntervalIsRead(_ text: String, _ milliseconds: Int64) throws {
        #expect(try Interval(text).duration == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "1", "s", "1h", "1.5s", "-1s", "1S"])
    func whatIsNoIntervalIsRefused(_ text: String) {
        #expect(throws: IntervalError.malformed) { try Interval(text) }
    }

    @Test(arguments: ["0s", "99ms", "61m", "9223372036854775807m", "99999999999999999999s"])
    func anIntervalHasBounds(_ text: String) {
        #expect(throws: IntervalError.outOfRange) { try Interval(text) }
    }
}
