import PrefetchCaching
import Synchronization
import Testing

@testable import cachectl

@Suite struct ProgressLineTests {
    private func written(label: String = "film", _ body: (inout ProgressLine) -> Void) -> [String] {
        let written = Mutex<[String]>([])
        var progress = ProgressLine(label: label, total: 1000) { text in
            written.withLock { $0.append(text) }
        }
        body(&progress)
        return written.withLock { $0 }
    }

    @Test func aLineIsWrittenPerPercentOnly() {
        let lines = written { progress in
            for done in 0...1000 { progress.show(Int64(done)) }
        }
        #expect(lines.count == 101)
        #expect(lines[48] == "\rfilm [#####-----] 48 %\u{1B}[K")
    }

    @Test func theLineIsClearedWhenThereIsOne() {
        #expect(written { $0.clear() }.isEmpty)
        #expect(
            written {
                $0.show(1); $0.clear()
            }.last == "\r\u{1B}[K")
    }

    @Test(arguments: [1, 2, 10, 24, 40])
    func aLongLabelIsCutToTheWidthOfTheTerminal(columns: Int) {
        let written = Mutex<[String]>([])
        let label = "https://media.example.org/podcasts/episode-42.mp3"
        var progress = ProgressLine(
            label: label, total: 1000, size: { TerminalSize(columns: columns, lines: 24) }
        ) { text in written.withLock { $0.append(text) } }
        progress.show(480)
        let line = written.withLock { $0[0] }.dropFirst().replacing("\u{1B}[K", with: "")
        #expect(line.count < columns)
        if columns == 40 { #expect(line == "dcasts/episode-42.mp3 [#####-----] 48 %") }
    }

    @Test func aLabelCannotControlTheTerminal() {
        #expect(written(label: "\u{1B}[2J") { $0.show(0) } == ["\r\\u{1B}[2J [----------] 0 %\u{1B}[K"])
    }
}

@Suite struct OpeningProgressTests {
    private let written: Written
    private let progress: WorkProgress

    private final class Written: Sendable {
        let texts = Mutex<[String]>([])
    }

    init() {
        let written = Written()
        self.written = written
        progress = WorkProgress { text in written.texts.withLock { $0.append(text) } }
    }

    private func show(_ key: ItemKey, _ mebibytes: Int64, of total: Int64 = 100) {
        progress.show(OpenProgress(key: key, completedBytes: mebibytes << 20, totalBytes: total << 20))
    }

    @Test func everyItemHasItsLineAndAllAreCleared() {
        for done in 1...4 { show("a", Int64(done)) }
        show("a", 4)
        show("b", 50)
        progress.clear()
        progress.clear()
        let texts = written.texts.withLock { $0 }
        #expect(texts.count == 6)
        #expect(texts.first == "\ra [----------] 1 %\u{1B}[K")
        #expect(texts.suffix(2) == ["\rb [#####-----] 50 %\u{1B}[K", "\r\u{1B}[K"])
    }

    @Test func whatIsDoneAtOnceIsNotShown() {
        show("a", 4, of: 8)
        progress.clear()
        #expect(written.texts.withLock { $0 }.isEmpty)
    }
}

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
