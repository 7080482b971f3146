import Testing

@testable import PrefetchCaching

/// The daily sums of all sources: their bounds, and what they add up to.
@Suite struct HistoryRowsTests {
    @Test func manySourcesOfOneItemEachAreMerged() throws {
        var rows = HistoryRows()
        var figures = PrefetchFigures()
        (figures[.stored], figures[.storedBytes]) = (1, 100)
        for number in 0..<100_000 { rows.add(figures, day: 20_000, source: SourceName("source \(number)")) }
        #expect(rows.sources.count <= HistoryRows.mostSources + 1)
        rows.bound(today: 20_000)
        #expect(rows.sources.count < HistoryRows.mostSources)
        #expect(rows.total[.stored] == 100_000)
        // Nothing is learnt of sources that are all alike.
        #expect(SourceKnowledge(rows, now: 20_000 * HistoryDay.milliseconds).names.isEmpty)
        rows.add(figures, day: 20_001, source: "new")
        #expect(rows.bySource["new"]?[.stored] == 1)
    }

    @Test func daysAndWeeksAddUp() throws {
        var rows = HistoryRows()
        var figures = PrefetchFigures()
        figures[.stored] = 1
        // Monday 5 October 2026 is day 20,731.
        for day in Int32(20_731)..<20_745 { rows.add(figures, day: day, source: "s") }
        let history = PrefetchHistory(rows, since: nil)
        #expect(history.byWeek.map(\.figures[.stored]) == [7, 7])
        #expect(history.byDay.count == 14)
        #expect(PrefetchHistory(rows, since: 20_744).total[.stored] == 1)
    }
}
