import FileSystemTestSupport
import Foundation
import GRDB
import PrefetchFileSystem
import SystemPackage
import Testing

@testable import PrefetchCaching

/// What is told, in which order, and what the file survives.
@Suite struct JournalTests {
    private let container: TemporaryContainer
    private let time = TestClock(1_700_000_000_000)
    private let volume = ToldVolume(VolumeState(total: 1 << 40, available: 1 << 39))

    init() throws {
        container = try TemporaryContainer(in: .fastTemporaryFolder)
    }

    private func engine(_ fileSystem: any FileSystem = LiveFileSystem()) throws -> Engine {
        try container.engine(fileSystem: fileSystem, probe: volume, now: { [time] in time.advance(1000) })
    }

    private func store(
        _ key: ItemKey, in engine: Engine, intent: Intent = .opportunistic, expiresIn lifetime: Int64? = nil
    ) throws {
        var metadata = ItemMetadata(key)
        metadata.source = "feed"
        metadata.intent = intent
        metadata.storedAt = time.advance(1000)
        metadata.expiresAt = lifetime.map { metadata.storedAt + $0 }
        _ = try noise(1000).withBytes { bytes throws(CacheError) in
            try engine.store(bytes, as: metadata, encoding: .automatic)
        }
    }

    /// `left budget key`
    private func told(_ entries: [JournalEntry]) -> [String] {
        entries.map { [$0.kind.rawValue, $0.reason, $0.key].filter { !$0.isEmpty }.joined(separator: " ") }
    }

    /// What happened to items.
    private func told(by engine: Engine, after position: JournalPosition? = nil) throws -> [String] {
        try told(engine.journal(after: position).entries.filter { !$0.key.isEmpty })
    }

    // MARK: What is told

    @Test func usesAreToldWithTheirKeys() throws {
        let engine = try engine()
        for key in ["opened", "read"] as [ItemKey] { try store(key, in: engine) }
        _ = try engine.open("opened")
        _ = try engine.open("opened")
        for _ in 0..<3 { _ = try engine.content("read") }
        for _ in 0..<2 { _ = try engine.content("missed") }
        try store("delivered", in: engine, intent: .userRequested)
        try store("opened", in: engine)
        _ = try engine.configure { $0.isStoringEnabled = false }
        try store("refused", in: engine)
        let entries = try engine.journal(after: nil).entries
        #expect(
            Set(told(entries.filter { !$0.key.isEmpty })) == [
                "stored opened", "stored read", "opened opened opened", "reopened opened", "read read",
                "missed missed", "delivered delivered", "refused alreadyPromoted opened",
                "refused disabled refused",
            ])
        #expect(entries.first { $0.kind == .read }?.count == 3)
        #expect(entries.first { $0.kind == .missed }?.count == 2)
        let stored = try #require(entries.first { $0.kind == .stored && $0.key == "opened" })
        let opened = try #require(entries.first { $0.kind == .opened })
        #expect(stored.source == "feed" && stored.contentBytes == 1000 && stored.chargedBytes >= 1000)
        #expect(opened.source == "feed" && opened.contentBytes == 1000 && !opened.wasRead)
        #expect(opened.storedAt == stored.storedAt && opened.chargedBytes == stored.chargedBytes)
        #expect(opened.departure == .opened)
    }

    @Test(arguments: [false, true])
    func everyDepartureHasItsReasonAndItsKey(isFlushed: Bool) throws {
        let engine = try engine()
        try store("expired", in: engine, expiresIn: 20_000)
        for key in ["removed", "replaced", "damaged", "purged", "evicted", "budget", "pressure"] as [ItemKey]
        {
            try store(key, in: engine)
        }
        if isFlushed { try engine.flush() }
        _ = try engine.remove("removed")
        try store("replaced", in: engine)
        var damaged = try Data(contentsOf: container.item("damaged"))
        damaged[500] ^= 1
        try damaged.write(to: container.item("damaged"))
        _ = try engine.content("damaged")
        try FileManager.default.removeItem(at: container.item("purged"))
        _ = try engine.content("purged")
        _ = try engine.content("pressure")
        for _ in 0..<20 { time.advance(1000) }
        try engine.maintain()
        // Only items are counted here, not what is in quarantine.
        while try engine.items().contains(where: { $0.key == "evicted" }) { _ = try engine.evict(1) }
        _ = try engine.content("replaced")
        let used = try engine.catalog.reading { try $0.usedBytes() }
        _ = try engine.configure { $0.budget = .fixed(.bytes(used - 1)) }
        // Without a reserve there is room for all: what goes goes for the pressure.
        _ = try engine.configure {
            $0.budget = .fixed(.gibibytes(1))
            $0.capacityModel.reservePerMille = 0
        }
        volume.tell(VolumeState(total: 1 << 30, available: 20 << 20))
        try engine.maintain()
        #expect(try engine.items().isEmpty)

        let left = try engine.journal(after: nil).entries.filter { $0.kind == .left }
        #expect(
            Set(told(left)) == [
                "left expired expired", "left removed removed", "left replaced replaced",
                "left damaged damaged", "left purged purged", "left request evicted", "left budget budget",
                "left pressure pressure", "left pressure replaced",
            ])
        for entry in left { #expect(entry.wasRead == (entry.departure == .pressure), "\(entry)") }
    }

    @Test func anEvictionIsNoOpeningWhateverElseHappens() throws {
        let (one, other) = (try engine(), try engine())
        for number in 0..<20 { try store(ItemKey(number: number), in: one) }
        try one.flush()
        _ = try other.open(ItemKey(number: 19))
        _ = try one.evict(1)
        _ = try other.open(ItemKey(number: 18))
        _ = try one.evict(.max)
        try other.flush()
        let told = try told(by: one).filter { !$0.hasPrefix("stored") }
        #expect(
            told.sorted()
                == ((0..<18).map { "left request item-\($0)" }
                + (18..<20).map { "opened opened item-\($0)" }).sorted())
    }

    @Test func levelsBudgetsAndWhatIsLostAreTold() throws {
        let first = try engine()
        _ = try first.configure { $0.budget = .fixed(.mebibytes(64)) }
        _ = try first.configure { $0.budget = .fixed(.mebibytes(32)) }
        volume.tell(VolumeState(total: 1 << 40, available: 1 << 20))
        try first.maintain()
        // The other process knows the level from the catalog.
        let second = try engine()
        try second.maintain()
        volume.tell(VolumeState(total: 1 << 40, available: 1 << 39))
        try second.maintain()
        try first.maintain()
        for number in 0..<5 { try store(ItemKey(number: number), in: first) }
        try first.close()
        try second.close()
        try FileManager.default.removeItem(at: container.catalog)
        for number in 0..<2 {
            try FileManager.default.removeItem(at: container.item(ItemKey(number: number)))
        }
        let entries = try engine().journal(after: nil).entries.filter { $0.key.isEmpty }
        #expect(
            told(entries) == [
                "budget", "budget", "pressure critical", "pressure normal", "itemsLost", "rebuilt",
            ])
        #expect(entries.map(\.chargedBytes) == [64 << 20, 32 << 20, 0, 0, 0, 0])
        #expect(entries.suffix(2).map(\.count) == [2, 3])
        #expect(entries.suffix(2).map(\.source) == ["feed", ""])
    }

    // MARK: Order and processes

    @Test(arguments: [false, true])
    func oneItemsEventsAreInTheirOrder(isFlushing: Bool) throws {
        let engine = try engine()
        var storedAt: [Int64] = []
        for _ in 0..<2 {
            _ = try engine.content("a")
            try store("a", in: engine)
            try store("b", in: engine)
            storedAt.append(try #require(engine.description(of: "a")?.metadata.storedAt))
            _ = try engine.content("a")
            if isFlushing { try engine.flush() }
            _ = try engine.remove("a")
            if isFlushing { try engine.flush() }
        }
        let entries = try engine.journal(after: nil).entries.filter { $0.key == "a" && $0.kind != .missed }
        let once = ["stored a", "read a", "left removed a"]
        #expect(told(entries) == once + once)
        #expect(entries.filter { $0.kind == .left }.map(\.storedAt) == storedAt)
    }

    @Test func aMissPrecedesTheStoreThatFollowsIt() throws {
        let engine = try engine()
        // From the third on, room is taken out of what was granted before, without a transaction in between.
        for number in 0..<3 { try store(ItemKey(number: number), in: engine) }
        let end = try engine.journal(after: nil).end
        for _ in 0..<2 { _ = try engine.content("a") }
        try store("a", in: engine)
        #expect(try told(by: engine, after: end) == ["missed a", "stored a"])
    }

    /// A downloader that fetches at once what it finds gone does not make it a replacement.
    @Test func whatIsStoredAgainAtOnceLeftForItsOwnReason() throws {
        let engine = try engine()
        for key in ["removed", "purged", "replaced"] as [ItemKey] {
            try store(key, in: engine)
            _ = try engine.content(key)
        }
        try engine.flush()
        let end = try engine.journal(after: nil).end
        _ = try engine.content("removed")
        _ = try engine.remove("removed")
        try FileManager.default.removeItem(at: container.item("purged"))
        _ = try engine.content("purged")
        for key in ["removed", "purged", "replaced"] as [ItemKey] { try store(key, in: engine) }
        _ = try engine.remove("replaced")
        let told = try told(by: engine, after: end)
        #expect(
            told == [
                "read removed", "missed purged", "left removed removed", "stored removed",
                "left purged purged",
                "stored purged", "left replaced replaced", "stored replaced", "left removed replaced",
            ])
        let figures = engine.history.rows().total
        #expect(figures[.leftRemoved] == 2 && figures[.leftPurged] == 1 && figures[.leftReplaced] == 1)
        #expect(figures[.read] == 4 && figures[.wasted] == 1)
    }

    @Test func whatAnotherProcessDoesIsSeenFromAPositionOn() throws {
        let (one, other) = (try engine(), try engine())
        try store("a", in: one)
        var end = try other.journal(after: nil).end
        try one.flush()
        #expect(try told(by: other, after: end) == ["stored a"])
        end = try other.journal(after: end).end
        #expect(try told(by: other, after: end) == [])
        _ = try other.open("a")
        try store("b", in: other)
        try other.flush()
        let news = try one.journal(after: end)
        #expect(told(news.entries) == ["opened opened a", "stored b"] && news.isComplete)
        #expect(try told(by: one, after: news.end) == [])
        #expect(try told(by: one) == ["stored a", "opened opened a", "stored b"])
    }

    @Test func theProcessThatSavesLaterComesFirstIfItWasFirst() throws {
        let (one, other) = (try engine(), try engine())
        one.history.record(UsageEvent(kind: .stored(fileBytes: 1), key: "first"))
        other.history.record(UsageEvent(kind: .stored(fileBytes: 1), key: "second"))
        other.history.save()
        one.history.save()
        #expect(try told(by: one) == ["stored first", "stored second"])
        // A clock that was set back turns nothing round.
        time.advance(-3_600_000)
        one.history.record(UsageEvent(kind: .stored(fileBytes: 1), key: "third"))
        #expect(try told(by: one) == ["stored first", "stored second", "stored third"])
    }

    // MARK: Bounds

    private func note(_ count: Int, from first: Int = 0, in history: History) {
        history.record(
            (first..<first + count).map {
                UsageEvent(
                    kind: .stored(fileBytes: 1), key: "https://feeds.example.org/episodes/\($0).mp3",
                    source: "https://feeds.example.org", contentBytes: 50_000_000)
            })
    }

    @Test func itStaysShortAndTellsWhatWasDropped() throws {
        let engine = try engine()
        // The budget.
        let before = try engine.journal(after: nil)
        note(10, in: engine.history)
        let start = try engine.journal(after: before.end)
        #expect(before.isComplete && start.isComplete && start.entries.count == 10)
        var last = start
        for round in 0..<300 {
            note(100, from: 10 + round * 100, in: engine.history)
            let news = try engine.journal(after: last.end)
            // Whoever looks each second misses nothing.
            #expect(news.isComplete && news.entries.count == 100, "\(round)")
            #expect(news.entries.first?.key.hasSuffix("/\(10 + round * 100).mp3") == true)
            last = news
        }
        for position in [nil, start.end] {
            let journal = try engine.journal(after: position)
            #expect(!journal.isComplete)
            #expect(journal.entries.first?.kind == .entriesLost)
            let earlier = position == nil ? 0 : before.entries.count + 10
            #expect(
                journal.entries.first.map { Int($0.count) + journal.entries.count - 1 }
                    == before.entries.count + 30_010 - earlier)
            #expect(journal.entries.count > 5000)
        }
        let bytes = try #require(
            try container.record.integer(sql: "SELECT sum(48 + length(key || source)) FROM journal"))
        #expect(bytes <= JournalTable.limit + 1024 * 120)
    }

    @Test func whatIsNotSavedInTimeIsDroppedFromTheOldestOn() throws {
        let engine = try engine()
        let before = try engine.journal(after: nil)
        let count: Int64 = 17_000
        for number in 1...count {
            engine.history.record(UsageEvent(kind: .missed(count: number, wasStored: false)))
        }
        let entries = try engine.journal(after: before.end).entries
        #expect(entries.first?.kind == .entriesLost)
        #expect(entries.first?.count == 8192)
        #expect(entries.dropFirst().map(\.count) == Array(8193...count))
    }

    @Test func manyUsesOfAFileOfTheUsersAreOneEntry() throws {
        let engine = try engine()
        try store("a", in: engine)
        _ = try engine.open("a")
        try engine.flush()
        let end = try engine.journal(after: nil).end
        for _ in 0..<1000 { _ = try engine.content("a") }
        let entries = try engine.journal(after: end).entries
        #expect(told(entries) == ["reopened a"] && entries.first?.count == 1000)
    }

    @Test func longTextsAreCut() throws {
        let engine = try engine()
        let key = String(repeating: "ü", count: 1500)
        engine.history.record(UsageEvent(kind: .delivered, key: key))
        let entry = try #require(engine.journal(after: nil).entries.first)
        #expect(entry.key == String(repeating: "ü", count: 512) && entry.key == JournalEntry.kept(key))
    }

    // MARK: The record

    @Test func aResetEmptiesItForAllReaders() throws {
        let (one, other) = (try engine(), try engine())
        try store("before the reset", in: one)
        let end = try other.journal(after: one.journal(after: nil).end).end
        _ = try one.historyRows()
        try one.history.reset()
        #expect(
            try other.journal(after: nil)
                == Journal(entries: [], end: other.journal(after: nil).end, isComplete: true))
        try store("after the reset", in: one)
        let news = try one.journal(after: end)
        #expect(told(news.entries) == ["stored after the reset"] && !news.isComplete)
        #expect(try other.journal(after: nil).isComplete)
        try one.close()
        try other.close()
        // A log-out: the key is nowhere in the files any more.
        for side in ["", "-wal"] {
            let file = URL(filePath: container.record.path + side)
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            #expect(try Data(contentsOf: file).firstRange(of: Data("before the reset".utf8)) == nil)
        }
    }

    @Test(arguments: [EIO, ENOSPC]) func aFailureOfTheRecordFailsNoCallAndLosesNothing(errno: CInt) throws {
        let engine = try engine()
        try store("a", in: engine)
        try SQLiteFaults.failing(.write, of: URL(filePath: container.record.path + "-wal"), errno: errno) {
            try engine.flush()
            try store("b", in: engine)
            try engine.maintain()
        }
        #expect(try told(by: engine) == ["stored a", "stored b"])
        try engine.close()
        let next = try self.engine()
        #expect(try told(by: next) == ["stored a", "stored b"])
        #expect(try next.historyRows().total[.stored] == 2)
    }

    @Test func entriesOfEveryKindSurviveTheRecord() throws {
        let path = FilePath(container.support.path)
        let root = try Directory.openOrCreate(
            path, permissions: CacheLayout.folderPermissions, in: LiveFileSystem())
        let record = Record(in: root, at: path)
        var all = JournalEntry.Kind.allCases.enumerated().map { number, kind in
            let values: [Int64] = [0, 1, -1, .max, .min, 127, 128]
            var entry = JournalEntry(time: values[number % 7], kind: kind)
            entry.count = values[(number + 1) % 7]
            entry.key = ["", "k", "caf\u{E9}", "cafe\u{301}"][number % 4]
            entry.source = ["s", ""][number % 2]
            entry.reason = "r\(number % 4)"
            entry.contentBytes = values[(number + 2) % 7]
            entry.chargedBytes = values[(number + 3) % 7]
            entry.storedAt = number % 2 == 0 ? values[(number + 4) % 7] : nil
            entry.wasRead = number % 3 == 0
            return entry
        }
        try record.count(isWaiting: true) {
            try JournalTable.append(all, to: $0)
        }
        let found = try #require(try record.read { try JournalTable.read(after: nil, in: $0) })
        #expect(found.entries == all)
        #expect(found.entries.map { Array($0.key.utf8) } == all.map { Array($0.key.utf8) })
        // A newer version may add kinds.
        try record.count(isWaiting: true) {
            try $0.execute(sql: "UPDATE journal SET kind = 'resold' WHERE number = 2")
        }
        all.remove(at: 1)
        #expect(try record.read { try JournalTable.read(after: nil, in: $0) }?.entries == all)
        try record.close()
    }
}
