import Testing

@testable import cachectl

@Suite struct ProgressBoardTests {
    private final class Terminal {
        var written: [String] = []
        var time = ContinuousClock.now
        var columns = 60
        var lines = 24
    }

    private let terminal = Terminal()
    private var board: ProgressBoard

    init() {
        let terminal = terminal
        board = ProgressBoard(
            now: { terminal.time }, size: { .init(columns: terminal.columns, lines: terminal.lines) },
            to: { terminal.written.append($0) })
    }

    @Test mutating func barsAreRedrawnInPlaceAndCleared() {
        board.show(1, "a", 50 << 20, of: 100 << 20)
        board.show(2, "b", 3 << 20, of: nil)
        board.draw(footer: "0 of 2 done")
        terminal.time += ProgressBoard.interval
        board.remove(1)
        board.draw(footer: "1 of 2 done")
        board.clear()
        board.clear()
        #expect(
            terminal.written == [
                "a [#####-----] 50 %, 50 MiB of 100 MiB\u{1B}[K\nb 3.0 MiB\u{1B}[K\n0 of 2 done\u{1B}[K\n\u{1B}[J",
                "\u{1B}[3A\rb 3.0 MiB\u{1B}[K\n1 of 2 done\u{1B}[K\n\u{1B}[J", "\u{1B}[2A\r\u{1B}[J",
            ])
    }

    @Test mutating func itIsDrawnTenTimesASecondAtMost() {
        for done in 1...1000 {
            board.show(1, "a", Int64(done), of: 1000)
            board.draw(footer: "")
            terminal.time += .milliseconds(1)
        }
        #expect(terminal.written.count == 10)
    }

    @Test mutating func noLineIsWrappedOrScrolledAway() {
        (terminal.columns, terminal.lines) = (40, 4)
        for id in 1...10 { board.show(id, String(repeating: "é", count: 90) + "\u{1B}\(id)", 1, of: 2) }
        board.draw(footer: String(repeating: "x", count: 100))
        let lines = terminal.written[0].split(separator: "\n").dropLast()
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.dropLast(3).count < 40 })
        #expect(lines[0].contains(#"\u{1B}1 ["#))
    }
}
