import PrefetchCaching
import Synchronization
import Testing

@testable import cachectl

@Suite struct ProgressTests {
    private final class Terminal: Sendable {
        let written = Mutex<[String]>([])
        let time = Mutex(ContinuousClock.now)
        let size = Mutex(TerminalSize(columns: 60, lines: 24))

        var board: ProgressBoard {
            ProgressBoard(
                now: { self.time.withLock(\.self) }, size: { self.size.withLock(\.self) },
                to: { text in self.written.withLock { $0.append(text) } })
        }

        var texts: [String] { written.withLock(\.self) }

        func pass(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private let terminal = Terminal()

    @Test func linesAreRedrawnInPlaceAndCleared() {
        var board = terminal.board
        let jobs = [
            ProgressBoard.Job(label: "a", text: Bar.text(50, of: 100)), .init(label: "b", text: "3.0 MiB"),
        ]
        board.draw(jobs, footer: "0 of 2 done")
        terminal.pass(ProgressBoard.interval)
        board.draw([jobs[1]], footer: "1 of 2 done")
        board.clear()
        board.clear()
        #expect(
            terminal.texts == [
                "a [#####-----] 50 %\u{1B}[K\nb 3.0 MiB\u{1B}[K\n0 of 2 done\u{1B}[K\n\u{1B}[J",
                "\u{1B}[3A\rb 3.0 MiB\u{1B}[K\n1 of 2 done\u{1B}[K\n\u{1B}[J", "\u{1B}[2A\r\u{1B}[J",
            ])
    }

    @Test func itIsDrawnTenTimesASecondAtMost() {
        var board = terminal.board
        for done in 1...1000 {
            board.draw([.init(label: "a", text: Bar.text(Int64(done), of: 1000))])
            terminal.pass(.milliseconds(1))
        }
        #expect(terminal.texts.count == 10)
    }

    @Test func noLineIsWrappedOrScrolledAwayOrControlsTheTerminal() {
        terminal.size.withLock { $0 = TerminalSize(columns: 40, lines: 4) }
        var board = terminal.board
        board.draw(
            (1...10).map { .init(label: String(repeating: "é", count: 90) + "\u{1B}\($0)", text: "[") },
            footer: String(repeating: "x", count: 100))
        let lines = terminal.texts[0].split(separator: "\n").dropLast()
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.dropLast(3).count < 40 })
        #expect(lines[0].contains(#"\u{1B}1 ["#), "the end of a label tells most")
    }

    @Test func everyItemHasItsLineUnlessItIsDoneAtOnce() {
        let progress = WorkProgress(terminal.board)
        func show(_ key: ItemKey, _ mebibytes: Int64, of total: Int64) {
            progress.show(OpenProgress(key: key, completedBytes: mebibytes << 20, totalBytes: total << 20))
            terminal.pass(ProgressBoard.interval)
        }
        show("small", 4, of: 8)
        show("a", 1, of: 100)
        show("b", 50, of: 100)
        progress.clear()
        #expect(
            terminal.texts == [
                "a [----------] 1 %\u{1B}[K\n\u{1B}[J",
                "\u{1B}[1A\rb [#####-----] 50 %\u{1B}[K\n\u{1B}[J", "\u{1B}[1A\r\u{1B}[J",
            ])
    }
}
