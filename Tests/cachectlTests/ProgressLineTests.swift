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
