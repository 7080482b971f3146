import Testing

@testable import cachectl

@Suite struct TextTableTests {
    @Test func columnsAreAligned() {
        var table = TextTable([.right, .left, .left])
        table.add(["1", "a", "last"])
        table.add(["100", "bcd", ""])
        #expect(table.lines == ["  1  a    last", "100  bcd  "])
    }

    @Test func aVeryLongTextDoesNotWidenItsColumn() {
        let long = String(repeating: "x", count: TextTable.widestPadding + 1)
        var table = TextTable([.left, .left])
        table.add(["ab", "last"])
        table.add([long, "last"])
        #expect(table.lines == ["ab  last", "\(long)  last"])
    }

    @Test func noRowsAreNoLines() {
        #expect(TextTable([.left]).lines.isEmpty)
    }
}
