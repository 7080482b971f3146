import Testing

@testable import cachectl

@Suite struct BarTests {
    @Test(
        arguments: [
            (0, 100, "[----------] 0 %"), (4, 100, "[----------] 4 %"), (5, 100, "[#---------] 5 %"),
            (48, 100, "[#####-----] 48 %"), (999, 1000, "[#########-] 99 %"),
            (100, 100, "[##########] 100 %"),
            (150, 100, "[##########] 150 %"), (0, 0, "[----------] 0 %"), (1, 0, "[##########] 100 %"),
            (-1, 100, "[----------] 0 %"), (Int64.max, Int64.max, "[##########] 100 %"),
            (Int64.max - 1, Int64.max, "[#########-] 99 %"),
            (Int64.max, 1, "[##########] 9223372036854775807 %"),
        ] as [(Int64, Int64, String)])
    func theBarShowsThePart(_ part: Int64, _ whole: Int64, _ text: String) {
        #expect(Bar.text(part, of: whole) == text)
    }
}
