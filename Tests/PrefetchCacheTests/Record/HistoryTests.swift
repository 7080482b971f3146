import FileSystemTestSupport
import Foundation
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What is counted, and that it outlives what it may.
@Suite struct HistoryTests {
    private let container = TemporaryContainer.make(in: .fastTemporaryFolder)
    private let clock = TestClock(20_000 * HistoryDay.milliseconds)

    private func engine(_ fileSystem: any FileSystem = LiveFileSystem()) throws -> Engine {
        try container.engine(fileSystem: fileSystem, now: { [clock] in clock.now })
    }

    private func store(
        _ key: ItemKey, from source: String = "feed", bytes: Int = 1000, expiresAt: Int64? = nil,
        in engine: Engine
    ) throws {
        var metadata = ItemMetadata(
            key: key, source: source, destination: .documents(try FileName(key.string)))
        metadata.storedAt = clock.now
        metadata.expiresAt = expiresAt
        let outcome = try engine.store(noise(bytes), as: metadata)
        if case .stored = outcome { return }
        Issue.record("refused")
    }

    private func figures(of engine: Engine, from source: String? = nil) throws -> PrefetchFigures {
        let rows = try engine.historyRows()
        return source.map { rows.bySource[SourceName($0)] ?? PrefetchFigures() } ?? rows.total
    }

    private func expect(
        _ figures: PrefetchFigures, _ expected: [PrefetchFigures.Metric: Int64],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (metric, value) in expected {
            #expect(figures[metric] == value, "\(metric)", sourceLocation: sourceLocation)
        }
    }

    // MARK: What is counted

    @Test func anOpenThatFindsItsItemIsAHitWhetherItWasWrittenInBetweenOrNot() throws {
        for isFlushing in [false, true] {
            let engine = try engine()
            let before = try figures(of: engine)
            try store(ItemKey("a\(isFlushing)"), in: engine)
            if isFlushing { try engine.flush() }
            clock.advance(HistoryDay.milliseconds / 4)
            _ = try engine.open(ItemKey("a\(isFlushing)"))
            _ = try engine.open(ItemKey("a\(isFlushing)"))
            _ = try engine.open("nothing")
            let after = try figures(of: engine)
            for (metric, count) in [
                .stored: 1, .opened: 1, .used: 1, .usedBytes: 1000, .missed: 1, .reopened: 1, .wasted: 0,
                .delays: 1,
                .usedOfDay: 1,
            ] as [PrefetchFigures.Metric: Int64] {
                #expect(after[metric] - before[metric] == count, "\(metric), \(isFlushing)")
            }
            #expect(after[.delayMilliseconds] - before[.delayMilliseconds] == HistoryDay.milliseconds / 4)
            try engine.close()
        }
    }

    @Test func readingIsUseOnceAndHitsAreEveryRead() throws {
        let engine = try engine()
        try store("a", in: engine)
        for _ in 0..<3 { _ = try engine.content("a") }
        try engine.flush()
        for _ in 0..<2 { _ = try engine.content("a") }
        let figures = try figures(of: engine, from: "feed")
        expect(figures, [.read: 5, .used: 1, .stored: 1, .missed: 0])
        #expect(figures.hitRatio == 1)
        _ = try engine.open("a")
        expect(try self.figures(of: engine), [.read: 5, .used: 1, .opened: 1, .wasted: 0])
    }

    @Test func whatTheLibraryDoesForItselfIsNoUse() throws {
        let engine = try engine()
        try store("a", in: engine)
        _ = try engine.stream("a", nil, isUse: false) { _ in }
        _ = try engine.contains("a")
        _ = try engine.status(of: "a")
        _ = try engine.description(of: "a")
        expect(try figures(of: engine), [.read: 0, .used: 0, .missed: 0])
    }

    @Test(arguments: [false, true])
    func everyDepartureHasItsReason(isFlushed: Bool) throws {
        let engine = try engine()
        for (key, source) in [("evicted", "e"), ("removed", "r"), ("replaced", "p"), ("used", "u")] {
            try store(try ItemKey(key), from: source, in: engine)
            clock.advance(HistoryDay.milliseconds / 1000)
        }
        if isFlushed { try engine.flush() }
        _ = try engine.remove("removed")
        try store("replaced", from: "p", in: engine)
        _ = try engine.content("used")
        _ = try engine.remove("used")
        #expect(try engine.evict(1) > 0)
        #expect(try engine.statistics().evictions == 1)
        expect(try figures(of: engine, from: "e"), [.leftOnRequest: 1, .wasted: 1, .wastedBytes: 1000])
        expect(try figures(of: engine, from: "r"), [.leftRemoved: 1, .leftOnRequest: 0, .wasted: 1])
        expect(
            try figures(of: engine, from: "p"), [.stored: 2, .leftReplaced: 1, .wasted: 1, .replacedOfDay: 1])
        expect(try figures(of: engine, from: "u"), [.leftRemoved: 1, .wasted: 0, .used: 1, .read: 1])
        #expect(try figures(of: engine).residents == 1)
        #expect(try figures(of: engine).unusedResidents == 1)
    }

    @Test func anItemThatIsWantedAfterItHasLeftIsKnown() throws {
        let engine = try engine()
        try store("a", from: "feed", in: engine)
        clock.advance(2 * HistoryDay.milliseconds)
        _ = try engine.evict(1)
        _ = try engine.open("a")
        _ = try engine.open("a")
        let figures = try figures(of: engine, from: "feed")
        expect(figures, [.missed: 2, .missedBytes: 1000, .wantedOfDay: 1])
        // By the day on which it was stored.
        let day = HistoryRows.Place(day: 20_000, source: "feed")
        #expect(engine.history.rows().figures[day]?[.wantedOfDay] == 1)
    }

    @Test func whatIsDeclinedDoesNotMakeItForgetWhatHasLeft() throws {
        let engine = try engine()
        try store("left", in: engine)
        try engine.flush()
        _ = try engine.remove("left")
        for _ in 0..<2 {
            for number in 0..<300 {
                let metadata = ItemMetadata(key: try ItemKey("declined \(number)"), source: "feed")
                engine.catalog.noteDeclined(Newcomer(metadata))
            }
            try engine.flush()
        }
        expect(try figures(of: engine), [.declined: 300, .wantedOfDay: 0])
        for key in ["left", "declined 0"] as [ItemKey] { _ = try engine.open(key) }
        expect(try figures(of: engine), [.wantedOfDay: 2, .missed: 2, .missedBytes: 1000])
        let entries = try engine.journal(after: nil).entries.filter { $0.kind == .missed }
        #expect(entries.map(\.source) == ["feed", "feed"])
        #expect(entries.map { $0.storedAt != nil } == [true, false])
    }

    @Test func aResetIsSeenByOtherProcesses() throws {
        let (first, second) = (try engine(), try engine())
        for _ in 0..<3 {
            second.history.record(UsageEvent(kind: .missed(count: 1, wasStored: false)))
            second.history.save()
        }
        #expect(first.history.rows().total[.missed] == 3)
        try second.history.reset()
        second.history.record(UsageEvent(kind: .missed(count: 1, wasStored: false)))
        second.history.save()
        #expect(first.history.rows().total[.missed] == 1)
    }

    @Test(arguments: [false, true])
    func anItemThatIsWantedWhenItHasExpiredOrIsDamagedIsKnown(isFlushed: Bool) throws {
        let engine = try engine()
        try store("expired", from: "e", expiresAt: clock.now + 1, in: engine)
        try store("damaged", from: "d", in: engine)
        if isFlushed { try engine.flush() }
        clock.advance(HistoryDay.milliseconds)
        let file = container.item("damaged")
        try file.flipByte(at: 10)
        _ = try engine.open("expired")
        _ = try engine.content("damaged")
        expect(
            try figures(of: engine, from: "e"),
            [.leftExpired: 1, .wasted: 1, .missed: 1, .missedBytes: 1000, .wantedOfDay: 1])
        expect(
            try figures(of: engine, from: "d"),
            [.leftDamaged: 1, .wasted: 1, .missed: 1, .missedBytes: 1000, .wantedOfDay: 1])
    }

    @Test func anItemThatLeavesBeforeItIsWrittenIsKnownWhenItIsWanted() throws {
        let engine = try engine()
        try store("removed", from: "r", in: engine)
        try store("purged", from: "p", in: engine)
        _ = try engine.remove("removed")
        try container.item("purged").remove()
        _ = try engine.open("removed")
        _ = try engine.open("purged")
        for source in ["r", "p"] {
            expect(
                try figures(of: engine, from: source),
                [.stored: 1, .wasted: 1, .missed: 1, .missedBytes: 1000])
        }
    }

    @Test func whatIsReadAndPurgedBeforeItIsWrittenWasUsed() throws {
        let engine = try engine()
        try store("a", in: engine)
        _ = try engine.content("a")
        _ = try engine.content("a")
        try container.item("a").remove()
        expect(
            try figures(of: engine, from: "feed"),
            [.stored: 1, .read: 2, .used: 1, .leftPurged: 1, .wasted: 0])
    }

    @Test(arguments: [false, true])
    func anItemThatAnotherProcessReplacesBeforeItIsWrittenIsCounted(otherIsFirst: Bool) throws {
        let (one, other) = (try engine(), try engine())
        try store("a", in: one)
        _ = try one.content("a")
        clock.advance(HistoryDay.milliseconds / 1000)
        try store("a", bytes: 2000, in: other)
        for engine in otherIsFirst ? [other, one] : [one, other] { try engine.flush() }
        let figures = try figures(of: one)
        expect(figures, [.stored: 2, .storedBytes: 3000, .read: 1, .used: 1, .leftReplaced: 1, .wasted: 0])
        #expect(figures.residents == 1 && figures.unusedResidents == 1)
    }

    /// One that had looked for it in vain, or removed it, just before.
    @Test(arguments: [false, true], [false, true])
    func aUseOfWhatAnotherProcessHasJustStoredCounts(wasRemoved: Bool, isOpened: Bool) throws {
        let (one, other) = (try engine(), try engine())
        if wasRemoved { try store("a", from: "old", in: one) }
        try one.flush()
        #expect(wasRemoved ? try one.remove("a") : try one.content("a") == nil)
        clock.advance(HistoryDay.milliseconds / 1000)
        try store("a", in: other)
        try other.flush()
        _ = try one.content("a")
        if isOpened { _ = try one.open("a") }
        expect(
            try figures(of: one, from: "feed"),
            [.stored: 1, .read: 1, .used: 1, .opened: isOpened ? 1 : 0, .wasted: 0])
        expect(try figures(of: one, from: ""), [.read: 0, .used: 0])
        guard wasRemoved else { return }
        expect(try figures(of: one, from: "old"), [.stored: 1, .wasted: 1, .leftReplaced: 1])
    }

    @Test func whatIsFoundBeforeItsProcessWritesItIsCountedOnce() throws {
        let fileSystem = InterceptingFileSystem()
        let (dying, one, two) = (try engine(fileSystem), try engine(), try engine())
        try store("x", in: dying)
        try store("purged", from: "purged", in: one)
        try store("replaced", from: "replaced", in: two)
        _ = try one.content("purged")
        fileSystem.die()
        // Without its list, everything is found that has no row.
        let list = "incoming/\(dying.environment.session).lock"
        try container.caches.appending(path: list).remove()
        let other = try engine()
        #expect(try other.items().count == 3)
        clock.advance(HistoryDay.milliseconds / 1000)
        try store("replaced", from: "replaced", bytes: 2000, in: other)
        try container.item("purged").remove()
        for engine in [one, two, other] { try engine.flush() }
        expect(
            try figures(of: one, from: "purged"),
            [.stored: 1, .read: 1, .used: 1, .leftPurged: 1, .leftReplaced: 0, .wasted: 0])
        expect(try figures(of: one, from: "replaced"), [.stored: 2, .leftReplaced: 1, .wasted: 1])
    }

    // MARK: What it outlives

    @Test func whatAKilledProcessHasWrittenAndNotSavedIsFound() throws {
        let fileSystem = InterceptingFileSystem()
        let dying = try engine(fileSystem)
        try store("a", in: dying)
        try store("b", in: dying)
        _ = try dying.content("b")
        // Writes the rows, on the way.
        #expect(try dying.items().count == 2)
        fileSystem.die()
        let figures = try figures(of: try engine())
        expect(figures, [.stored: 2, .read: 1, .used: 1])
        #expect(figures.residents == 2)
    }

    @Test func aPurgeOfEverythingIsCountedAndLeavesTheHistory() throws {
        let first = try engine()
        for number in 0..<10 { try store(ItemKey(number: number), from: "s\(number % 2)", in: first) }
        _ = try first.content(ItemKey(number: 0))
        _ = try first.open(ItemKey(number: 1))
        try first.close()
        try container.caches.remove()
        let second = try engine()
        let figures = try figures(of: second)
        expect(figures, [.stored: 10, .opened: 1, .used: 2, .leftPurged: 9, .wasted: 8])
        #expect(figures.residents == 0 && figures.unusedResidents == 0)
    }

    @Test func aCatalogThatIsLostAloneCountsNothingTwice() throws {
        let first = try engine()
        for number in 0..<10 { try store(ItemKey(number: number), in: first) }
        try first.close()
        try container.catalog.remove()
        let second = try engine()
        expect(try figures(of: second), [.stored: 10, .leftPurged: 0, .wasted: 0])
        _ = try second.evict(.max)
        expect(try figures(of: second), [.stored: 10, .leftOnRequest: 10, .wasted: 10])
    }

    @Test func anItemThatAnotherProcessOpensBeforeItIsWrittenIsCountedOnce() throws {
        let (one, other) = (try engine(), try engine())
        try store("a", in: one)
        _ = try other.open("a")
        try other.flush()
        try one.flush()
        try other.flush()
        expect(try figures(of: one), [.stored: 1, .opened: 1, .used: 1, .leftPurged: 0, .wasted: 0])
    }

    @Test func aResetKeepsTheBalance() throws {
        let first = try engine()
        for number in 0..<4 { try store(ItemKey(number: number), in: first) }
        _ = try first.content(ItemKey(number: 0))
        try first.flush()
        try first.history.reset()
        let figures = try figures(of: first)
        expect(figures, [.stored: 0, .read: 0, .used: 0, .carried: 4, .carriedUnused: 3])
        try first.close()
        try container.caches.remove()
        expect(try self.figures(of: try engine()), [.leftPurged: 4, .wasted: 3])
    }

    // MARK: The record

    @Test func theRowsStayFew() throws {
        let history = try engine().history
        var figures = PrefetchFigures()
        (figures[.stored], figures[.storedBytes]) = (2, 1 << 42)
        for day in 0..<500 {
            for source in 0..<40 {
                history.add(figures, to: SourceName("https://feeds.example.org/\(day % 7)/\(source)"))
            }
            if day % 10 == 9 { history.save() }
            clock.advance(HistoryDay.milliseconds)
        }
        let rows = history.rows()
        #expect(rows.figures.count <= HistoryRows.mostRows)
        #expect(rows.total[.stored] == 500 * 80)
        #expect(Set(rows.figures.keys.map(\.day)).count > 350)
        #expect(
            try #require(try container.record.integer(sql: "SELECT sum(length(figures)) FROM day")) < 1 << 20)
    }

    @Test func sourcesThatAreOnlyCanonicallyEquivalentAreTwo() throws {
        let names = ["cafe\u{301}", "caf\u{E9}"]
        let engine = try engine()
        for name in names { try store(ItemKey(name), from: name, in: engine) }
        try engine.flush()
        let found = try self.engine().historyRows()
        #expect(found.sources.count == 2)
        let history = PrefetchHistory(found, since: nil)
        #expect(history.bySource.map { Array($0.source.utf8) } == names.map { Array($0.utf8) })
    }

    @Test func everySumSurvivesTheRecord() throws {
        let engine = try engine()
        var figures = PrefetchFigures()
        for (number, metric) in PrefetchFigures.Metric.allCases.enumerated() {
            figures[metric] = [1, 127, 128, .max, 300][number % 5]
        }
        for source in ["", "ü", String(repeating: "x", count: 500)] {
            engine.history.add(figures, to: SourceName(source))
        }
        let rows = engine.history.rows()
        engine.history.save()
        #expect(!engine.history.hasUnsaved)
        #expect(engine.history.rows() == rows)
        engine.history.add(figures, to: "")
        engine.history.save()
        // What would overflow stays at the largest value.
        #expect(engine.history.rows().bySource[""]?[.storedBytes] == 254)
        #expect(engine.history.rows().bySource[""]?[.opened] == .max)
    }

    @Test func aClockThatIsWrongForAWhileSpoilsNothing() throws {
        let engine = try engine()
        try store("a", in: engine)
        try engine.flush()
        clock.advance(4000 * HistoryDay.milliseconds)
        try store("b", in: engine)
        _ = try engine.content("a")
        try engine.flush()
        clock.advance(-4000 * HistoryDay.milliseconds)
        _ = try engine.content("b")
        let figures = try figures(of: engine)
        expect(figures, [.stored: 2, .used: 2, .delays: 0, .delayMilliseconds: 0])
        var rows = engine.history.rows()
        rows.bound(today: 20_000)
        #expect(rows.figures.keys.allSatisfy { $0.day <= 20_001 })
        #expect(rows.total == figures)
    }
}
