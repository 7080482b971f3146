import PrefetchCaching
import Testing

@testable import cachectl

@Suite struct WatchScreenTests {
    private func screen(_ sample: CacheSample, _ events: [WatchEvent] = []) -> WatchScreen {
        WatchScreen(title: "cachectl ./AppData", interval: .seconds(1), sample: sample, events: events)
    }

    private func texts(_ screen: WatchScreen, columns: Int = 80, lines: Int = 24) -> [String] {
        screen.lines(TerminalSize(columns: columns, lines: lines)).map {
            $0.rendered(columns: columns, isColoured: false)
        }
    }

    private var busy: CacheSample {
        .sample(
            second: 3661,
            sources: [
                .sample("feeds.example.org", items: 12, charged: 3 << 20), .sample("", charged: 1 << 20),
            ]
        ) {
            $0.items = 13
            $0.contentBytes = 8 << 20
            $0.storedBytes = 4 << 20
            $0.chargedBytes = 4 << 20
            $0.figures[.stored] = 20
            $0.figures[.refusedUnderPressure] = 2; $0.figures[.refusedOverBudget] = 1
            $0.partials = 1
            $0.partialBytes = 1 << 20
        }
    }

    @Test func everythingIsShown() {
        let events = [
            WatchEvent(time: 3_660_000, kind: .stored, count: 1, keys: ["a"]),
            WatchEvent(time: 3_661_000, kind: .evicted, count: 2, bytes: 4096, detail: "budget"),
        ]
        #expect(
            texts(screen(busy, events)) == [
                "cachectl ./AppData                               01:01:01 UTC, every 1s, q quits", "",
                "budget    [#############---------------------] 40 %, 4.0 MiB of 10 MiB",
                "pressure  normal, 40 GiB of 100 GiB available",
                "items     13, 8.0 MiB as 4.0 MiB; 1 interrupted (1.0 MiB)",
                "so far    20 stored, 0 opened, 0 evicted, 3 refused; 0 hits, 0 missed", "",
                "SOURCE              ITEMS     CHARGED",
                "feeds.example.org      12     3.0 MiB  ##############",
                "(none)                  1     1.0 MiB  ####", "", "RECENT",
                "01:01:01  evicted for the budget 2 items (4.0 KiB)", "01:01:00  stored 1 item: a",
            ])
    }

    @Test func noSizeBreaksIt() {
        let sources = (0..<30).map {
            SourceUsage.sample("日本-source-\($0).example.org", charged: Int64(1000 - $0))
        }
        let sample = CacheSample.sample(sources: sources) { $0.chargedBytes = .max }
        let events = (0..<50).map { WatchEvent(time: $0, kind: .stored, count: 1, keys: ["key \($0)"]) }
        for columns in [0, 1, 2, 7, 20, 41, 60, 61, 80, 300] {
            for lines in [0, 1, 2, 5, 8, 9, 10, 24, 200] {
                let shown = screen(sample, events).lines(TerminalSize(columns: columns, lines: lines))
                #expect(shown.count <= lines)
                for line in shown {
                    #expect(line.rendered(columns: columns, isColoured: false).columns <= columns)
                }
            }
        }
    }

    @Test func sourcesThatHaveNoRoomAreAddedUp() {
        let sources = (0..<30).map { SourceUsage.sample("s\($0)") }
        let events = (0..<50).map { WatchEvent(time: $0, kind: .refused, count: 1, detail: "pressure") }
        let shown = texts(screen(.sample(sources: sources), events))
        #expect(shown.contains("… 24 more, 24 KiB"))
        #expect(shown.count == 24)
        #expect(shown.contains("RECENT"))
    }

    @Test func pressureIsTold() {
        let shown = texts(screen(.sample { $0.pressure = .critical }))
        #expect(shown.contains("pressure  critical, 40 GiB of 100 GiB available; nothing is admitted"))
    }

    @Test func aFullBarIsThatOfAFullBudget() {
        let full = texts(screen(.sample { $0.chargedBytes = 10 << 20 }))[2]
        #expect(!full.contains("-") && full.contains("100 %"))
        let nearly = texts(screen(.sample { $0.chargedBytes = (10 << 20) - 1 }))[2]
        #expect(nearly.contains("-]"))
    }

    @Test func withoutColoursThereIsNoEscapeSequence() {
        let hostile = SourceUsage.sample("s\u{1B}[31m\u{202E}\n")
        let sample = CacheSample.sample(sources: [hostile])
        let shown = WatchScreen(title: "t\u{1B}c", interval: .seconds(1), sample: sample, events: [])
            .lines(TerminalSize(columns: 80, lines: 24))
        for line in shown {
            let text = line.rendered(columns: 80, isColoured: false)
            #expect(!text.unicodeScalars.contains { $0.isTerminalHazard })
        }
        #expect(shown.contains { $0.rendered(columns: 80, isColoured: true).contains("\u{1B}[1m") })
    }
}
